"""Flight recorders: which ranks hang, when everybody waits? The product's own reading, on dumps."""

from __future__ import annotations

from pathlib import Path

from paramedic.diagnosis.benchmark.real_sets.errors import RealSetFormatError
from paramedic.diagnosis.benchmark.real_sets.location import present
from paramedic.diagnosis.benchmark.real_sets.rows import RealSetRow
from paramedic.diagnosis.flight_recorder.errors import FlightRecorderError
from paramedic.diagnosis.flight_recorder.hanging import hanging_ranks
from paramedic.diagnosis.flight_recorder.reading import read_dumps

_FOLDER = "flight_recorder"
EXPECTED = {
    "gpu_error_2nd": frozenset({9, 14}),
    "lock_gil_1st": frozenset({9, 14}),
    "lock_gil_2nd": frozenset({10, 15}),
}


def evaluate(folder: Path) -> RealSetRow:
    """Judge all dumps. Raises RealSetError."""
    found = {name: _named(folder / _FOLDER / name) for name in EXPECTED}
    right = sum(found[name] == expected for name, expected in EXPECTED.items())
    named = {name: " ".join(map(str, sorted(ranks))) for name, ranks in found.items()}
    promise = "exactly the ranks that hang are named"
    return RealSetRow(
        "flight_recorder",
        {"right": right, "dumps": len(EXPECTED), **named},
        promise,
        right == len(EXPECTED),
    )


def _named(folder: Path) -> frozenset[int]:
    try:
        return hanging_ranks(read_dumps(present(folder)))
    except FlightRecorderError as error:
        raise RealSetFormatError(str(error)) from error
