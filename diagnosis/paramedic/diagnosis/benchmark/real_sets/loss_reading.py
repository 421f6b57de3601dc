"""Reads logs of trainings: nanoGPT's lines and Megatron's, a step each."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from paramedic.diagnosis.benchmark.real_sets.errors import RealSetFormatError
from paramedic.diagnosis.benchmark.real_sets.location import present

_NANOGPT = re.compile(r"s:(\d+) trl:(\S+)(?: lr:(\S+) norm:(\S+))?")
_MEGATRON = {
    "step": re.compile(r"iteration\s+(\d+)/"),
    "loss": re.compile(r"lm loss: (\S+)"),
    "gradient_norm": re.compile(r"grad norm: (\S+)"),
    "learning_rate": re.compile(r"learning rate: (\S+)"),
}


@dataclass(frozen=True, slots=True)
class CurveStep:
    """What a log says of one step; NaN where it says nothing."""

    step: float
    loss: float
    gradient_norm: float = math.nan
    learning_rate: float = math.nan


def read_nanogpt(folder: Path, name: str) -> tuple[CurveStep, ...]:
    """The training losses of one log, such as `adamw`. Raises RealSetError."""
    path = present(folder / f"{name}.log")
    found = (_NANOGPT.match(line) for line in _lines(path))
    return _some(
        path,
        (
            CurveStep(_number(match[1]), _number(match[2]), _number(match[4]), _number(match[3]))
            for match in found
            if match is not None
        ),
    )


def read_megatron(path: Path, run: str) -> tuple[CurveStep, ...]:
    """The iterations of one run, in the file's order; without cut lines. Raises RealSetError."""
    lines = (line for line in _lines(present(path)) if line.split("\t")[0] == run)
    found = ({name: form.search(line) for name, form in _MEGATRON.items()} for line in lines)
    return _some(
        path,
        (
            CurveStep(**{name: _number(match[1]) for name, match in one.items() if match})
            for one in found
            if one["step"] is not None and one["loss"] is not None
        ),
    )


def _lines(path: Path) -> Iterator[str]:
    try:
        yield from path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise RealSetFormatError(f"{path} cannot be read: {error}") from error


def _some(path: Path, steps: Iterator[CurveStep]) -> tuple[CurveStep, ...]:
    curve = tuple(steps)
    if not curve:
        raise RealSetFormatError(f"{path} holds no line of a training step")
    return curve


def _number(text: str | None) -> float:
    try:
        return math.nan if text is None else float(text)
    except ValueError:
        return math.nan
