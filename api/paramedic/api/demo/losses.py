"""Reads the losses that the processes of a training wrote (`--losses FOLDER` of the example)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from paramedic.api.demo.curve import Point
from paramedic.api.demo.errors import DemoRunError

_TAIL_BYTES = 4096


def read_curve(folder: Path) -> dict[Point, list[str]]:
    """Every loss of every file, in order; empty when nothing was written.

    Raises DemoRunError when a file holds something else.
    """
    curve: dict[Point, list[str]] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for point, loss in _read_file(path):
            curve.setdefault(point, []).append(loss)
    return curve


def newest_written_step(folder: Path) -> int | None:
    """The highest step at the end of any file, while it is still being written."""
    steps = [step for path in folder.glob("*.jsonl") for step in _last_steps(path)]
    return max(steps, default=None)


def _read_file(path: Path) -> Iterator[tuple[Point, str]]:
    for number, line in enumerate(_whole_lines(path.read_bytes()), start=1):
        try:
            fields = json.loads(line)
            yield (int(fields["step"]), int(fields["rank"])), float.fromhex(fields["loss"]).hex()
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise DemoRunError(
                f"{path}, line {number}: not a loss: {line[:80]!r}: the training script has to "
                "write step, rank and loss (float.hex) for --losses"
            ) from error


def _whole_lines(content: bytes) -> list[bytes]:
    """A process that was killed while it wrote leaves half a line, which says nothing."""
    return content[: content.rfind(b"\n") + 1].splitlines()


def _last_steps(path: Path) -> Iterator[int]:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
        lines = _whole_lines(file.read())
    if lines:
        yield int(json.loads(lines[-1])["step"])
