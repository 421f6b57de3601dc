"""What is known to have been broken in a recording: from a label file, or from people's feedback.

A label file is no `truth.json` (`diagnosis/benchmark/verdicts/truth.py`), whose words and times are
others. Labels lie beside a recording and never in it: `NAME.labels.json` (or `labels.json`, when it
speaks of that recording) and `NAME.feedback.jsonl` next to the folder NAME. Either may be absent.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paramedic.ingest.contract import UNREADABLE, NodeName, parse_time
from paramedic.models.histories.errors import LabelError, words_of
from paramedic.models.histories.feedback import Feedback, read_feedback

_GROUP_KINDS = ("network_group",)


_FORM = (
    'wanted is {"schema": 1, "recording": NAME, "faults": [{"kind", "node", "onset", "end"}, …]},'
    " times as 2026-01-01T00:11:12Z"
)
"""What a message says of the form."""


@dataclass(frozen=True, slots=True)
class KnownFault:
    """Something was broken; times are Unix seconds."""

    kind: str
    """A fault of formats, section 3."""
    nodes: tuple[NodeName, ...]
    onset: int
    end: int | None = None
    """None: it stayed, or nobody knows."""
    halted_at: int | None = None
    gpu: int | None = None

    @property
    def is_group(self) -> bool:
        """Whether a whole domain was broken and no machine in particular."""
        return self.kind in _GROUP_KINDS


@dataclass(frozen=True, slots=True)
class Labels:
    """Everything that is known of one recording."""

    faults: tuple[KnownFault, ...] = ()
    no_faults: tuple[Feedback, ...] = ()
    """Verdicts of which somebody said that nothing was broken."""

    @property
    def are_there(self) -> bool:
        """Whether anybody has said anything."""
        return bool(self.faults or self.no_faults)


def labels_of(recording: Path) -> Labels:
    """What lies beside a recording. Raises LabelError for a file of another form."""
    told = [*_label_file(recording)]
    feedback = recording.with_name(f"{recording.name}.feedback.jsonl")
    said = read_feedback(feedback) if feedback.exists() else ()
    confirmed = [fault for one in said if (fault := _confirmed(one)) is not None]
    new = [one for one in confirmed if not any(_is_same(one, known) for known in told)]
    no_faults = tuple(one for one in said if one.is_no_fault)
    return Labels(tuple(sorted([*told, *new], key=lambda one: one.onset)), no_faults)


def _label_file(recording: Path) -> list[KnownFault]:
    own = recording.with_name(f"{recording.name}.labels.json")
    shared = recording.with_name("labels.json")
    path = next((one for one in (own, shared) if one.exists()), None)
    if path is None:
        return []
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
        of_whom = fields.get("recording", recording.name)
        if path is shared and of_whom != recording.name:
            return []
        return _faults(fields, of_whom, recording.name)
    except (OSError, *UNREADABLE) as error:
        raise LabelError(f"{path} is no label file: {words_of(error)}; {_FORM}") from error


def _faults(fields: dict[str, Any], of_whom: str, recording: str) -> list[KnownFault]:
    if of_whom != recording:
        raise ValueError(f"recording is {of_whom!r}, and it lies beside {recording!r}")
    if fields.get("schema", 1) != 1:
        raise ValueError(f"schema is {fields['schema']!r}, and 1 is what is known here")
    return [_fault_at(at, one) for at, one in enumerate(fields["faults"])]


def _fault_at(at: int, fields: dict[str, Any]) -> KnownFault:
    try:
        return _fault(fields)
    except UNREADABLE as error:
        has_words_of_truth = isinstance(fields, dict) and "fault" in fields
        hint = " (a truth.json calls it 'fault')" if has_words_of_truth else ""
        raise ValueError(f"faults[{at}]: {words_of(error)}{hint}") from error


def _fault(fields: dict[str, Any]) -> KnownFault:
    nodes = fields.get("nodes") or [fields["node"]]
    if not isinstance(nodes, list) or not all(isinstance(node, str) for node in nodes):
        raise ValueError(f"node must be a name, nodes must be a list of names, not {nodes!r}")
    onset = _second(fields["onset"])
    if onset is None:
        raise ValueError("a fault without an onset")
    return KnownFault(
        kind=str(fields["kind"]),
        nodes=tuple(map(NodeName, nodes)),
        onset=onset,
        end=_second(fields.get("end")),
        halted_at=_second(fields.get("halted_at")),
        gpu=fields.get("gpu"),
    )


def _second(text: object) -> int | None:
    match text:
        case None:
            return None
        case str():
            return int(parse_time(text).timestamp())
    raise ValueError(f"{text!r} is no time in words: only a truth.json has Unix seconds")


def _confirmed(said: Feedback) -> KnownFault | None:
    if said.faulty is None:
        return None
    return KnownFault(said.cause, (said.faulty,), said.onset, said.resolved_at)


def _is_same(one: KnownFault, other: KnownFault) -> bool:
    """Whether both speak of one fault: the machine is the same, and the times overlap."""
    begins_in_time = other.end is None or one.onset < other.end
    overlaps = begins_in_time and (one.end is None or other.onset < one.end)
    return overlaps and not set(one.nodes).isdisjoint(other.nodes)
