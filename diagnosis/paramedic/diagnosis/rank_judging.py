"""Judges the ranks of a job second by second, and none of them waits for longer than it has to.

A second is judged as soon as every rank has told of it: nothing more can come, so the allowed
lateness is not waited for. Where a rank is missing, the second is judged when it closes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paramedic.diagnosis.comparable import comparable_part
from paramedic.diagnosis.contract import Fault, Phase, Tier
from paramedic.diagnosis.cost import BORNE_SECONDS
from paramedic.diagnosis.earlier_steps import EarlierSteps
from paramedic.diagnosis.excuses import Excuse, Excuses
from paramedic.diagnosis.finding import moment
from paramedic.diagnosis.joining import is_joined, is_slow_rank
from paramedic.diagnosis.one_card import is_with_departure
from paramedic.diagnosis.own_usual import OwnUsual
from paramedic.diagnosis.rank_families import with_cause
from paramedic.diagnosis.same_step import telling_ranks, with_peers_of_the_step
from paramedic.diagnosis.slowness import finding_of
from paramedic.diagnosis.symptoms import JUDGED_METRICS, UNSCORED_METRICS
from paramedic.diagnosis.unaccounted import Unaccounted
from paramedic.ingest.contract import Entity

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from paramedic.diagnosis.contract import Verdict
    from paramedic.diagnosis.docket import Docket
    from paramedic.diagnosis.finding import Finding
    from paramedic.diagnosis.picture import JobPicture
    from paramedic.diagnosis.settings import StragglerSettings
    from paramedic.diagnosis.straggler import Slowness, StragglerWatch
    from paramedic.ingest.contract import EntityKey, NodeName, Window
    from paramedic.ingest.windows.job import JobWindows
    from paramedic.models.contract import PatternModel


@dataclass(slots=True)
class RankMemory:
    """What is known of a job's ranks beside the windows."""

    watch: StragglerWatch
    earlier: EarlierSteps = field(default_factory=EarlierSteps)
    usual: OwnUsual = field(default_factory=OwnUsual)
    unaccounted: Unaccounted = field(default_factory=Unaccounted)
    judged_stretch: float = -math.inf
    """When the stretch of training began whose slots were compared last (Unix seconds)."""
    judged_second: int | None = None
    """The newest slot that was judged."""
    excuses: Excuses = field(default_factory=Excuses)
    """Why nodes are not accused whose ranks are slow enough."""


@dataclass(frozen=True, slots=True)
class RankJudging:
    """The rules; what they remember is handed in."""

    settings: StragglerSettings
    model: PatternModel

    def judge_closed(
        self,
        second: int,
        windows: JobWindows,
        memory: RankMemory,
        picture: JobPicture,
        docket: Docket,
    ) -> Iterator[Verdict]:
        """What a slot decides that has closed, unless it was judged when it was whole."""
        if memory.judged_second is None or second > memory.judged_second:
            memory.judged_second = second
            yield from self._judge(second, windows, memory, picture, docket)

    def judge_whole(
        self, windows: JobWindows, memory: RankMemory, picture: JobPicture, docket: Docket
    ) -> Iterator[Verdict]:
        """What the slots decide that are open still, and that every rank has told of."""
        while memory.judged_second is not None:
            second = memory.judged_second + windows.slot_seconds
            if not windows.is_heard(Entity.RANK, second):
                return
            if not is_whole(windows.window_until(Entity.RANK, second)):
                return
            memory.judged_second = second
            yield from self._judge(second, windows, memory, picture, docket)

    def _judge(
        self,
        second: int,
        windows: JobWindows,
        memory: RankMemory,
        picture: JobPicture,
        docket: Docket,
    ) -> Iterator[Verdict]:
        if picture.is_past(second) or not picture.is_fit(second, self.settings):
            return
        if picture.stretch(second) > memory.judged_stretch:
            memory.judged_stretch = picture.stretch(second)
            memory.watch.restart()
            memory.earlier.clear()
        slow = self._weigh(second, windows, memory, picture, docket.accused)
        suspicion = memory.watch.suspicion() if slow else {}
        for slowness in slow:
            finding = self._finding(slowness, suspicion, picture)
            machines = docket.departed(finding.node)
            departed = None if machines is None else docket.open[machines]
            is_told = finding.node in picture.departed or (departed and _tells_of_rank(departed))
            if is_told or not docket.would_change(finding):
                continue
            shown = finding
            if departed is None or departed.fault is Fault.UNKNOWN:  # else it is said why
                hosts = windows.window_until(Entity.NODE, windows.closed_by(second))
                shown = with_cause(finding, _held(windows, second), hosts)
            if _is_borne(shown, slowness, second, memory.excuses):
                continue
            yield from docket.report(shown) if machines is None else docket.join(machines, shown)
        yield from _acquit(second, windows.slot_seconds, memory.watch, docket)

    def _weigh(
        self,
        second: int,
        windows: JobWindows,
        memory: RankMemory,
        picture: JobPicture,
        accused: Collection[NodeName],
    ) -> list[Slowness]:
        """Who is slow by now; a slot in which nobody ended a step changes nothing."""
        window = windows.window_until(Entity.RANK, second)
        told = [at for at, name in enumerate(window.metrics) if name in JUDGED_METRICS]
        if not window.observed.T[-1, told].any():
            return []
        part = comparable_part(window, picture, self.settings, JUDGED_METRICS)
        telling = telling_ranks(part)
        steps = memory.earlier.before(with_peers_of_the_step(window, part, telling))
        steps = memory.unaccounted.beside(steps, telling, accused)
        scores = self.model.score(steps, UNSCORED_METRICS, memory.usual.held(steps, accused))
        memory.usual.note(scores)
        memory.earlier.remember(part)
        return memory.watch.weigh(scores, telling)

    def _finding(
        self,
        slowness: Slowness,
        suspicion: Mapping[EntityKey, float],
        picture: JobPicture,
    ) -> Finding:
        return finding_of(slowness, picture.generation, suspicion, self.settings)


def _is_borne(shown: Finding, slowness: Slowness, second: int, excuses: Excuses) -> bool:
    """Whether its host is, or was until lately, busy with something else, and little is lost."""
    node, lost = slowness.row.node, slowness.lost_seconds
    is_chore = shown.fault is Fault.HOST_CONTENTION or excuses.of(node, second) is not None
    if not is_chore or lost >= BORNE_SECONDS:
        return False
    excuses.give(node, Excuse.BUSY, second, lost, BORNE_SECONDS)
    return True


def is_whole(window: Window) -> bool:
    """Whether everybody who has told anything in this window has told of its newest slot."""
    here = window.observed.T[-1].any(axis=0)
    if not here.any():  # nor of a window without rows, where all of none are here
        return False
    if here.all():
        return True
    before = window.observed.T[-2].any(axis=0)
    if (before & ~here).any():  # which is most often so, and quickly seen
        return False
    return not window.observed[~here].any()


def _held(windows: JobWindows, second: int) -> dict[Entity, Window]:
    """What ranks have told of until now, and their machines: all of them, or in closed slots."""
    held = {kind: windows.window_until(kind, second) for kind in (Entity.GPU, Entity.NODE)}
    if not all(is_whole(one) for one in held.values() if one.rows):
        closed = windows.closed_by(second)
        held = {kind: windows.window_until(kind, closed) for kind in held}
    return {**held, Entity.RANK: windows.window_until(Entity.RANK, second)}


def _tells_of_rank(verdict: Verdict) -> bool:
    """Whether nothing is added by saying that a rank of the machine is slow."""
    return is_slow_rank(verdict) or verdict.phase is Phase.FAILED


def _acquit(
    second: int, slot_seconds: int, watch: StragglerWatch, docket: Docket
) -> Iterator[Verdict]:
    """Resolves those that have long been as fast as their peers."""
    for subject, verdict in list(docket.open.items()):
        is_of_work = verdict.tier is Tier.PATTERN or is_with_departure(verdict)
        is_ours = is_of_work and is_slow_rank(verdict) and not is_joined(verdict)
        slow_node = subject.node if is_ours else None
        if slow_node is not None and watch.is_well(slow_node, slot_seconds):
            reason = f"rank {verdict.rank} is as fast as its peers again"
            yield from docket.recover(subject, moment(second), reason)
