"""What people said of verdicts, one JSON object a line.

    {"verdict": {…as in formats, section 3…}, "answer": "right"}
    {"verdict": {…}, "answer": "right", "cause": "pcie_downgrade"}
    {"verdict": {…}, "answer": "wrong_node", "node": "node-0003"}
    {"verdict": {…}, "answer": "not_a_fault"}

Of several answers to one verdict the last one holds.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from paramedic.ingest.contract import UNREADABLE, NodeName, parse_time
from paramedic.models.histories.errors import LabelError, words_of


class Answer(StrEnum):
    """What somebody said of a verdict."""

    RIGHT = "right"
    WRONG_NODE = "wrong_node"
    """Something was broken, elsewhere; `node` says where, if that is known."""
    NOT_A_FAULT = "not_a_fault"


@dataclass(frozen=True, slots=True)
class Feedback:
    """An answer, and what the verdict had said."""

    verdict: str
    """Its id."""
    answer: Answer
    accused: NodeName | None
    faulty: NodeName | None
    """Which machine was broken; None: none, or nobody knows which."""
    cause: str
    """What was broken: as somebody said, or else as the verdict did."""
    onset: int
    """Unix seconds, as the verdict has it."""
    resolved_at: int | None

    @property
    def is_no_fault(self) -> bool:
        """Whether nothing was broken."""
        return self.answer is Answer.NOT_A_FAULT


def read_feedback(file: Path) -> tuple[Feedback, ...]:
    """All answers, one for each verdict. Raises LabelError, naming the line."""
    found: dict[str, Feedback] = {}
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise LabelError(f"{file} cannot be read: {error}") from error
    for number, line in enumerate(lines, start=1):
        if line.strip():
            one = _read(line, f"{file}, line {number}")
            found[one.verdict] = one
    return tuple(found.values())


def _read(line: str, where: str) -> Feedback:
    try:
        fields = json.loads(line)
        return _feedback(fields, fields["verdict"])
    except UNREADABLE as error:
        known = ", ".join(Answer)
        raise LabelError(f"{where} is no feedback (answers: {known}): {words_of(error)}") from error


def _feedback(fields: dict[str, Any], verdict: dict[str, Any]) -> Feedback:
    answer = Answer(fields["answer"])
    accused = verdict.get("node")
    named = {Answer.RIGHT: accused, Answer.WRONG_NODE: fields.get("node")}.get(answer)
    resolved = verdict["detected_at"] if verdict.get("status") == "resolved" else None
    return Feedback(
        verdict=str(verdict["id"]),
        answer=answer,
        accused=None if accused is None else NodeName(accused),
        faulty=None if named is None else NodeName(named),
        cause=str(fields.get("cause") or verdict["fault"]),
        onset=int(parse_time(verdict["onset"]).timestamp()),
        resolved_at=None if resolved is None else int(parse_time(resolved).timestamp()),
    )
