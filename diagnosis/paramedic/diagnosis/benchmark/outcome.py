"""How one episode went for one detector: machine-exact, no point adjustment.

A fault is found when one of its machines is accused in [onset, deadline], the deadline being the
job's halt or ten minutes after the onset, whichever comes first. Every other accusation is a false
alarm: of another machine (which leaves the fault missed as well), before the onset, in a healthy
job. An accusation of a faulty machine that comes too late finds nothing and costs nothing more.
A group event is nobody's fault: its machines are to be named together, and whoever accuses one of
them alone has raised one false alarm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from paramedic.diagnosis.benchmark.episodes import Facts, Fault
    from paramedic.ingest.contract import NodeName
    from paramedic.models.detection import Alarm

DEADLINE_SECONDS = 600
COOL_DOWN_SECONDS = 600
"""Repeats of a false alarm about one machine within it are one false alarm."""
SMALLEST_GROUP = 3
SHARE_OF_GROUP = 0.8


@dataclass(frozen=True, slots=True)
class Found:
    """What became of one faulty machine."""

    kind: str
    loudness: str
    in_time: bool
    delay_seconds: int | None
    """From the onset until the slot that decided had closed, however late; None: never accused."""
    family: str | None
    """The fault that the first accusation named."""
    stop_seconds: int | None = None
    """From the onset until the machine stopped, or the job where only that is known; None: it never
    did."""

    @property
    def is_family_right(self) -> bool:
        """Whether the fault was called by its name."""
        return self.in_time and self.family == self.kind


@dataclass(frozen=True, slots=True)
class NamedSet:
    """Who was accused in time, and who was broken, where several machines broke at once."""

    accused: int
    broken: int
    right: int


@dataclass(frozen=True, slots=True)
class GroupEvent:
    """What became of a fault of a whole domain."""

    is_reported: bool
    """Most of its machines, and hardly another, were named together in time."""
    is_one_accused: bool
    """One of its machines was accused alone, or with too few others."""


@dataclass(frozen=True, slots=True)
class Claim:
    """An accusation, or a report of a group; repeats within the cool-down are the same one."""

    score: float
    """How sure the detector was."""
    is_right: bool
    """Whether what it named was broken then."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one episode went."""

    facts: Facts
    found: tuple[Found, ...]
    """One for each faulty machine; none for those of a group event."""
    false_alarms: int
    named_set: NamedSet | None
    groups: tuple[GroupEvent, ...]
    compute_seconds: float
    claims: tuple[Claim, ...] = ()
    """In the order in which they were made."""

    @property
    def hits(self) -> int:
        """True positives."""
        return sum(one.in_time for one in self.found)

    @property
    def misses(self) -> int:
        """False negatives."""
        return len(self.found) - self.hits


@dataclass(frozen=True, slots=True, order=True)
class _Accusation:
    second: int
    node: NodeName
    family: str | None
    score: float


def judge(facts: Facts, alarms: Sequence[Alarm], compute_seconds: float) -> Outcome:
    """Score the alarms that a detector raised in an episode, in whatever order they are given."""
    groups = [fault for fault in facts.faults if fault.is_group]
    faults = [fault for fault in facts.faults if not fault.is_group]
    reports = [alarm for alarm in alarms if _reports_any(alarm, groups)]
    accusations = _accusations(alarm for alarm in alarms if not _reports_any(alarm, groups))
    unexplained = [one for one in accusations if not _concerns(one, faults)]
    judged = [_group_event(group, reports, unexplained) for group in groups]
    wrong = [one for one in unexplained if not _concerns(one, groups)]
    return Outcome(
        facts=facts,
        found=tuple(_found(fault, node, accusations) for fault in faults for node in fault.nodes),
        false_alarms=_merged(wrong) + sum(event.is_one_accused for event in judged),
        named_set=_named_set(faults, accusations),
        groups=tuple(judged),
        compute_seconds=compute_seconds,
        claims=tuple(_claims(accusations, faults, reports)),
    )


def deadline(fault: Fault) -> int:
    """The last second in which an alarm is in time."""
    latest = fault.onset + DEADLINE_SECONDS
    return latest if fault.halted_at is None else min(latest, fault.halted_at)


def _accusations(alarms: Iterable[Alarm]) -> list[_Accusation]:
    every = {
        (alarm.second, node, alarm.family or ""): float(alarm.score)
        for alarm in alarms
        for node in alarm.nodes
    }
    return [
        _Accusation(second, node, family or None, score)
        for (second, node, family), score in sorted(every.items())
    ]


def _claims(
    accusations: Sequence[_Accusation], faults: Sequence[Fault], reports: Sequence[Alarm]
) -> Iterator[Claim]:
    """Whoever accuses one of a group alone is wrong: it is not that machine's fault."""
    made = [(one.second, one.node, one.score, _concerns(one, faults)) for one in accusations]
    made += [(one.second, one.nodes[0], float(one.score), True) for one in reports]
    last: dict[NodeName, int] = {}
    for second, node, score, is_right in sorted(made):
        if second - last.get(node, -COOL_DOWN_SECONDS) >= COOL_DOWN_SECONDS:
            last[node] = second
            yield Claim(score, is_right)


def _found(fault: Fault, node: NodeName, accusations: Sequence[_Accusation]) -> Found:
    first = next((a for a in accusations if a.node == node and a.second >= fault.onset), None)
    stop = fault.halted_at if fault.stopped_at is None else fault.stopped_at
    return Found(
        kind=fault.kind,
        loudness=fault.loudness,
        in_time=first is not None and first.second <= deadline(fault),
        delay_seconds=None if first is None else first.second + 1 - fault.onset,
        family=None if first is None else first.family,
        stop_seconds=None if stop is None else stop - fault.onset,
    )


def _concerns(accusation: _Accusation, faults: Iterable[Fault]) -> bool:
    """Whether the machine was broken then, or had been until a moment ago."""
    return any(
        accusation.node in fault.nodes
        and fault.onset <= accusation.second
        and (fault.end is None or accusation.second < max(fault.end, deadline(fault) + 1))
        for fault in faults
    )


def _merged(wrong: Sequence[_Accusation]) -> int:
    counted = 0
    counted_at: dict[NodeName, int] = {}
    for one in wrong:
        if one.second - counted_at.get(one.node, -COOL_DOWN_SECONDS) >= COOL_DOWN_SECONDS:
            counted_at[one.node] = one.second
            counted += 1
    return counted


def _named_set(faults: Sequence[Fault], accusations: Sequence[_Accusation]) -> NamedSet | None:
    broken = {node for fault in faults for node in fault.nodes}
    if len(broken) < 2:
        return None
    begin, last = min(f.onset for f in faults), max(deadline(f) for f in faults)
    accused = {one.node for one in accusations if begin <= one.second <= last}
    return NamedSet(len(accused), len(broken), len(accused & broken))


def _reports_any(alarm: Alarm, groups: Iterable[Fault]) -> bool:
    return any(_reports(alarm, group) for group in groups)


def _reports(alarm: Alarm, group: Fault) -> bool:
    named, members = set(alarm.nodes), set(group.nodes)
    both = len(named & members)
    return (
        group.onset <= alarm.second
        and len(named) >= SMALLEST_GROUP
        and both >= SHARE_OF_GROUP * len(members)
        and both >= SHARE_OF_GROUP * len(named)
    )


def _group_event(
    group: Fault, reports: Sequence[Alarm], accusations: Sequence[_Accusation]
) -> GroupEvent:
    last = deadline(group)
    return GroupEvent(
        is_reported=any(_reports(one, group) and one.second <= last for one in reports),
        is_one_accused=any(_concerns(one, (group,)) for one in accusations),
    )
