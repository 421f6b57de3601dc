"""Flight recorders: the rank that holds the others up is named, and no rank that waits for it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from paramedic.diagnosis.benchmark.real_sets import flight_recorder
from paramedic.diagnosis.benchmark.real_sets.errors import RealSetAbsentError
from paramedic.diagnosis.flight_recorder.errors import DumpFormatError, DumpsAbsentError
from paramedic.diagnosis.flight_recorder.hanging import hanging_ranks
from paramedic.diagnosis.flight_recorder.reading import read_dumps

# Two tensor groups, and two groups over them, as in a job of two stages.
GROUPS = {"t0": (0, 1), "t1": (2, 3), "p0": (0, 2), "p1": (1, 3)}


def write_dumps(folder: Path, pending: Mapping[int, Sequence[tuple[str, int]]]) -> Path:
    """Write the dumps of four ranks, with what each has begun and not completed."""
    folder.mkdir(parents=True, exist_ok=True)
    for rank in range(4):
        own = {name: ranks for name, ranks in GROUPS.items() if rank in ranks}
        entries = [
            {"process_group": [group, "SOME_GROUP"], "collective_seq_id": number,
             "state": "scheduled", "is_p2p": False}
            for group, number in pending.get(rank, ())
        ]  # fmt: skip
        done = {"process_group": ["t0", ""], "collective_seq_id": 1, "state": "completed"}
        dump = {
            "pg_config": {name: {"ranks": str(list(ranks))} for name, ranks in own.items()},
            "entries": [done, *entries],
        }
        (folder / f"rank{rank:02}.json").write_text(json.dumps(dump))
    (folder / "notes.txt").write_text("not a dump")
    return folder


def test_who_never_came_is_named_and_not_who_waits_for_those_who_wait(tmp_path: Path) -> None:
    """Rank 3 holds rank 2 up; ranks 0 and 1 wait for them in the groups over the stages."""
    pending = {2: [("t1", 50)], 0: [("p0", 7)], 1: [("p1", 7)]}
    assert hanging_ranks(read_dumps(write_dumps(tmp_path, pending))) == {3}


def test_who_does_not_finish_what_all_others_have_finished_is_named(tmp_path: Path) -> None:
    """The device of rank 3 stands; rank 2 went on to collectives that rank 3 never began."""
    pending = {3: [("t1", 40), ("t1", 41)], 2: [("t1", 50)], 0: [("p0", 7)]}
    assert hanging_ranks(read_dumps(write_dumps(tmp_path, pending))) == {3}


def test_where_all_are_in_the_same_collective_nobody_hangs(tmp_path: Path) -> None:
    pending = {rank: [(group, 9)] for group, ranks in list(GROUPS.items())[:2] for rank in ranks}
    assert not hanging_ranks(read_dumps(write_dumps(tmp_path, pending)))


def test_nobody_waits_nobody_hangs(tmp_path: Path) -> None:
    assert not hanging_ranks(read_dumps(write_dumps(tmp_path, {})))


def test_three_dumps_make_a_row(tmp_path: Path) -> None:
    for name in flight_recorder.EXPECTED:
        write_dumps(tmp_path / "flight_recorder" / name, {2: [("t1", 50)]})
    row = flight_recorder.evaluate(tmp_path)
    assert not row.holds, "rank 3 is not the rank that is expected"
    assert row.figures["lock_gil_1st"] == "3"


def test_a_dump_of_another_form_is_told(tmp_path: Path) -> None:
    with pytest.raises(RealSetAbsentError, match="flight_recorder"):
        flight_recorder.evaluate(tmp_path)
    with pytest.raises(DumpsAbsentError, match="no rank"):
        read_dumps(tmp_path)
    (tmp_path / "rank00.json").write_text('{"entries": []}')
    with pytest.raises(DumpFormatError, match="rank00"):
        read_dumps(tmp_path)
