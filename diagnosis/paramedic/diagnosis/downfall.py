"""Who of several that ended was the first: the culprit; the others are its victims.

When one rank of a synchronous job ends, the collectives of all others fail: they end after it, in
a second or when their watchdogs give up minutes later, and every end looks alike. So the order
tells, and nothing else does. Clocks of nodes agree to a second: who ended alike within it cannot be
put in order, and nobody is accused for that alone; of what only rows show, even less can be told.
Whose card has told an error just before, or is known to be ill when its process ends, has failed by
that. A node that had failed, or was no longer heard of, before the first end is the cause of all of
them. The job going on is what makes a later end another beginning.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paramedic.diagnosis.blame import causes, explained, reported, suspect
from paramedic.diagnosis.contract import Candidate, Evidence, Fault, Phase, Severity, Tier
from paramedic.diagnosis.exits import EXIT
from paramedic.diagnosis.finding import Finding, Subject, Trouble, moment
from paramedic.diagnosis.motion import Gait

if TYPE_CHECKING:
    from datetime import datetime

    from paramedic.diagnosis.blame import Case
    from paramedic.diagnosis.contract import Verdict
    from paramedic.diagnosis.docket import Docket
    from paramedic.diagnosis.exits import Ending
    from paramedic.diagnosis.going_on import GoingOn
    from paramedic.diagnosis.sight import JobSight
    from paramedic.ingest.contract import NodeName

_RESOLUTION_SECONDS = 1.0
"""Clocks of nodes agree to this, and many sources tell times in whole seconds."""
_QUIET_SECONDS = 5.0
"""So long without another end, and the victims are counted."""
_TOGETHER_SECONDS = 3.0
"""Who falls silent so soon after another is named with it."""
_FEWEST_NODES = 3
_CANDIDATES = 5
_CONFIDENCE_SILENT = 0.97
_CONFIDENCE_NOBODY = 0.9


@dataclass(frozen=True, slots=True)
class Around:
    """What else is known of the job when processes end."""

    docket: Docket
    going_on: GoingOn
    sight: JobSight
    silence_timeout_seconds: float
    clock_tolerance_seconds: int
    slot_seconds: int
    departed: frozenset[NodeName]

    def failed(self) -> list[Case]:
        """Who is known to have failed, and the job has not gone on since."""
        return causes(self.docket, self.going_on)

    def silent_nodes(self, before: float, now: int) -> dict[NodeName, int]:
        """Of whom nothing was heard since shortly before then, and since when."""
        timeout = self._timeout()
        least = max(2.0, 2.0 * self.slot_seconds)
        return {
            node: second
            for node, second in self.sight.nodes.items()
            if now - second >= least
            and before - timeout <= second <= before
            and node not in self.departed
        }

    @property
    def blur_seconds(self) -> float:
        """By so much the rows of two nodes may be apart that tell of one moment."""
        return float(max(self.clock_tolerance_seconds, self.slot_seconds))

    @property
    def all_have_left(self) -> bool:
        """Whether the memory of most cards is free."""
        return self.going_on.motion.gait is Gait.GONE

    def has_timed_out(self, since: int, now: int) -> bool:
        """Whether a node's silence is long enough to name it."""
        return now - since >= self._timeout()

    def _timeout(self) -> float:
        return max(self.silence_timeout_seconds, 3.0 * self.slot_seconds)


@dataclass(slots=True)
class Downfall:
    """The ends of processes that belong together."""

    endings: dict[tuple[NodeName, int, int], Ending] = field(default_factory=dict)
    """By whose they are."""
    is_decided: bool = False
    culprit: Subject | None = None
    """Whose verdict it is that the others' ends belong to; None: nobody's."""
    told: int = 0
    """How many victims were counted in it."""
    heard_at: int = 0
    """When the first end was heard of."""
    is_first_second_over: bool = False

    @property
    def is_pending(self) -> bool:
        """Whether it is yet to be seen who of those that ended was the first."""
        return bool(self.endings) and not self.is_decided

    def excuse_clean(self) -> frozenset[NodeName]:
        """The job is over: whose processes ended as they should is not to blame; returns those."""
        unclean = {one.node for one in self.endings.values() if not one.is_clean}
        nodes = frozenset(one.node for one in self.endings.values()) - unclean
        self.endings = {who: one for who, one in self.endings.items() if not one.is_clean}
        return nodes

    def hear(self, ending: Ending, around: Around) -> Iterator[Verdict]:
        """A process has ended: at once its fault, or held until others can be told from it."""
        if self._is_another(ending, around):
            self.forget()
        if ending.who in self.endings:
            return
        self.heard_at = self.heard_at if self.endings else around.sight.head
        self.endings[ending.who] = ending
        failed = around.failed()
        if self._is_accused(ending, [verdict for _, verdict in failed]):
            yield from _told(ending, around)
            failed = failed or around.failed()
        if failed and not self.is_decided:
            self.is_decided, self.culprit = True, failed[0][0]

    def tick(self, now: int, around: Around) -> Iterator[Verdict]:
        """A batch of this second is there, so that all earlier ends have been told."""
        if not self.endings or now < self._first().at + _RESOLUTION_SECONDS:
            return
        if not self.is_decided:
            yield from self._decide(now, around)
        elif not self.is_first_second_over:
            self.is_first_second_over = True
            yield from self._take_back(now, around)
        elif now >= max(one.at for one in self.endings.values()) + _QUIET_SECONDS:
            yield from self._count_victims(around)

    def _is_another(self, ending: Ending, around: Around) -> bool:
        """Whether the job has gone on since, so that this is the end of something else."""
        if not self.endings:
            return False
        last = max(one.at for one in self.endings.values())
        return ending.generation > self._first().generation or around.going_on.since(last)

    def forget(self) -> None:
        """What has ended so far belongs to nothing that is still to come."""
        self.endings, self.culprit, self.told = {}, None, 0
        self.is_decided = self.is_first_second_over = False

    def _first(self) -> Ending:
        return min(self.endings.values(), key=lambda one: (one.at, one.who))

    def _is_accused(self, ending: Ending, failed: list[Verdict]) -> bool:
        """Whether this end speaks against its node by itself."""
        if any(verdict.node == ending.node for verdict in failed):
            return True
        is_early = ending.at < self._first().at + _RESOLUTION_SECONDS
        is_free = not self.is_decided or all(v.fault is Fault.PROCESS_EXIT for v in failed)
        return ending.is_its_own and is_early and is_free

    def _decide(self, now: int, around: Around) -> Iterator[Verdict]:
        first = self._first()
        silent = around.silent_nodes(first.at, now)
        gone = {node: at for node, at in silent.items() if around.has_timed_out(at, now)}
        if silent and not gone:
            return
        is_blurred = first.is_seen_in_rows and not gone
        if is_blurred and now < self.heard_at + around.blur_seconds:
            return
        self.is_decided = self.is_first_second_over = True
        if gone:
            latest = max(gone.values()) + _TOGETHER_SECONDS
            for node, since in silent.items():
                if since <= latest:
                    yield from around.docket.report(self._unreachable(node, since, now))
            failed = [subject for subject, _ in around.failed()]
            self.culprit = next(iter(failed), Subject(next(iter(gone)), Trouble.ALIVE))
        elif is_blurred and around.all_have_left:
            yield from self._blame(suspect(around.docket, first.at), now, around)
        elif not self._alike(first):
            yield from self._blame_first(now, around)
        elif not first.is_clean:  # else all have done their work
            yield from self._blame_nobody_new(now, around)

    def _alike(self, first: Ending) -> set[NodeName]:
        """The other nodes whose processes ended like the first, and not later than clocks tell."""
        latest = first.at + _RESOLUTION_SECONDS
        ends = [one for one in self.endings.values() if one.at < latest and one.node != first.node]
        return {one.node for one in ends if one.manner == first.manner}

    def _blame_first(self, now: int, around: Around) -> Iterator[Verdict]:
        """It ended first, and is the culprit; or whose error was told just before.

        A process that has lost its card may take its time to end, and others notice at once.
        """
        first = self._first()
        case = None if first.is_its_own else reported(around.docket, first.at)
        if case is not None and case[0].node != first.node:
            yield from self._blame(case, now, around)
            return
        yield from _told(first, around, moment(now))
        case = _explained(first, around)
        self.culprit = Subject(first.node, Trouble.GONE) if case is None else case[0]

    def _blame_nobody_new(self, now: int, around: Around) -> Iterator[Verdict]:
        """Nobody was first: who is under accusation has failed; else it is the job's trouble."""
        suspected = suspect(around.docket, self._first().at)
        if suspected is None:
            yield from around.docket.report(self._of_the_job(now))
        else:
            yield from self._blame(suspected, now, around)

    def _blame(self, case: Case | None, now: int, around: Around) -> Iterator[Verdict]:
        """Who was accused before has failed, as the job has ended."""
        if case is None:
            return
        self.culprit, known = case
        ended, since = f"{known.summary}; the job has ended since", self._first().event.timestamp
        yield around.docket.fail(self.culprit, moment(now), since, ended)

    def _take_back(self, now: int, around: Around) -> Iterator[Verdict]:
        """When most nodes have ended alike at once, none of those who were named was the first."""
        first = self._first()
        nodes = {first.node, *self._alike(first)}
        if len(nodes) < _FEWEST_NODES or 2 * len(nodes) <= len(around.sight.nodes):
            return
        reason = f"the processes of {len(nodes)} nodes ended alike within a second"
        for node in sorted(nodes):
            yield from around.docket.clear(node, Trouble.GONE, moment(now), reason)
        if self.culprit not in around.docket.open:
            self.culprit = None
        if not around.failed():
            yield from self._blame_nobody_new(now, around)

    def _count_victims(self, around: Around) -> Iterator[Verdict]:
        known = None if self.culprit is None else around.docket.open.get(self.culprit)
        if known is None or self.culprit is None:
            return
        named = {self.culprit.node, *(subject.node for subject, _ in around.failed())}
        named |= {node for _, verdict in around.failed() for node in verdict.members}
        victims = {one.node for one in self.endings.values()} - named
        if len(victims) <= self.told:
            return
        self.told = len(victims)
        before = known.summary.split(_VICTIMS)[0]
        said = f"{before}{_VICTIMS}{_count(len(victims), 'other node')}"
        last = max(one.event.timestamp for one in self.endings.values())
        yield around.docket.amend(self.culprit, last, said)

    def _unreachable(self, node: NodeName, since: int, now: int) -> Finding:
        first = self._first()
        return Finding(
            node=node,
            rank=None,
            generation=first.generation,
            fault=Fault.MACHINE_UNREACHABLE,
            phase=Phase.FAILED,
            tier=Tier.HEARTBEAT,
            confidence=_CONFIDENCE_SILENT,
            onset=moment(since),
            detected_at=moment(now),
            summary=f"nothing has been heard of {node} for {now - since} s, and since then"
            f" processes on other nodes end, {first.name} first",
            candidates=(Candidate(node, float(now - since)),),
            evidence=(Evidence("telemetry", None, 1.0, 0.0, moment(since)), first.evidence()),
        )

    def _of_the_job(self, now: int) -> Finding:
        first = self._first()
        ends = sorted(self.endings.values(), key=lambda one: (one.at, one.who))
        nodes = list(dict.fromkeys(one.node for one in ends))
        return Finding(
            node=None,
            rank=None,
            generation=first.generation,
            fault=Fault.THROUGHPUT_DROP,
            phase=Phase.FAILED,
            tier=Tier.HEARTBEAT,
            confidence=_CONFIDENCE_NOBODY,
            onset=first.event.timestamp,
            detected_at=moment(now),
            summary=f"{_count(len(ends), 'process')} on {_count(len(nodes), 'node')} ended"
            f"{first.words()} within a second: nobody can be said to be the first",
            candidates=tuple(Candidate(node, 1.0) for node in nodes[:_CANDIDATES]),
            evidence=(first.evidence(),),
            severity=Severity.P0,
        )


def _explained(ending: Ending, around: Around) -> Case | None:
    """What is open about its machine, and is why it ended; nothing of what it did itself."""
    return None if ending.is_its_own else explained(around.docket, ending.node, ending.at)


def _told(ending: Ending, around: Around, at: datetime | None = None) -> Iterator[Verdict]:
    """Its end is a verdict of its own, unless it is known why: then that has failed by it."""
    case = _explained(ending, around)
    if case is None:
        yield from around.docket.report(ending.finding(at))
        return
    subject, known = case
    if known.phase is Phase.FAILED and any(one.metric == EXIT for one in known.evidence):
        return
    since = ending.event.timestamp
    said = f"{known.summary}; {ending.name} has ended{ending.words()}"
    evidence = (ending.evidence(),)
    yield around.docket.fail(subject, at or since, since, said, evidence=evidence)


_VICTIMS = "; its victims are the processes that ended after it on "


def _count(number: int, what: str) -> str:
    """A number with its noun.

    >>> _count(1, "rank"), _count(3, "process")
    ('1 rank', '3 processes')
    """
    return f"{number} {what}{'' if number == 1 else 'es' if what.endswith('s') else 's'}"
