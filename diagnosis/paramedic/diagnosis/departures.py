"""Finds the GPUs and nodes that have departed from their peers, and names them once it is safe.

All rows of one kind with the same role are peers. In a synchronous job everybody waits for a slow
machine, and not everybody alike: only who stands apart from all others is accused (see
`separation`). Several GPUs of one node that depart together are the node's trouble; nodes of one
switch, rack or stage that depart at once are a group's, and when a good part of all nodes stands
apart, nobody is accused: something befalls the job.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.busy_hosts import BusyHosts, Spared, has_no_part
from paramedic.diagnosis.clocks import Clocks
from paramedic.diagnosis.cost import BORNE_SECONDS, Cost
from paramedic.diagnosis.departure import departure_of
from paramedic.diagnosis.domain_watch import DomainWatch
from paramedic.diagnosis.excuses import Excuse, Excuses
from paramedic.diagnosis.host_support import with_hosts
from paramedic.diagnosis.job_pace import JobPace
from paramedic.diagnosis.materiality import GOOD_PART, is_past, material_share
from paramedic.diagnosis.node_evidence import SUSPECT, NodeEvidence
from paramedic.diagnosis.rows_test import RowsTest
from paramedic.diagnosis.separation import Picture, Suspect, culprits, why_spared
from paramedic.diagnosis.step_period import step_seconds
from paramedic.ingest.contract import Entity, EntityKey, NodeName

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from paramedic.diagnosis.departure import Departure
    from paramedic.diagnosis.domain_watch import Befallen
    from paramedic.diagnosis.evidence import Evidence
    from paramedic.diagnosis.roles import JobRoles
    from paramedic.diagnosis.settings import DepartureSettings
    from paramedic.ingest.contract import Window
    from paramedic.models.circles import Circles

_STEADY_PACE = 1
"""The pace at which machines are told apart: less noise than the first, sooner than the last."""
_SLOTS_BETWEEN_LOOKS = 10
_FEWEST_CALM_SLOTS = 3.0
_MUCH_LOST = 0.2
"""Of the whole job's work: a little less has many causes."""
_SELDOM_LEARNING_SECONDS = 200
"""So long until some of even the longest steps have been seen, where samples are seconds apart."""
_BUSY = ("gpu_graphics_active_ratio", "gpu_utilization_ratio")
"""Whether a card does anything at all."""
_STILL_SECONDS = 3.0
"""So long, or a whole step, what is not to be seen any more is over."""
_LATE_SECONDS = 10.0
"""Whose clock is some seconds off stops later than all others, or sooner."""
_STANDING_SECONDS = 15.0
"""In a job that stands still a host has nothing to do: who is busier for so long is what it waits
for."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What one slot decides."""

    departures: tuple[Departure, ...]
    befallen: Befallen | None
    """The group that departs together."""


@dataclass(slots=True)
class _Present:
    """The nodes of rows, found once for the same rows."""

    rows: list[tuple[EntityKey, ...]] = field(default_factory=list)
    nodes: frozenset[NodeName] = frozenset()

    def of(self, rows: list[tuple[EntityKey, ...]]) -> frozenset[NodeName]:
        is_known = len(rows) == len(self.rows) and all(map(operator.is_, rows, self.rows))
        if not is_known:
            self.rows, self.nodes = rows, frozenset(row.node for some in rows for row in some)
        return self.nodes


@dataclass(slots=True)
class DepartureWatch:
    """The tests of one job's GPUs and nodes."""

    settings: DepartureSettings
    _tests: dict[Entity, RowsTest] = field(init=False)
    _domains: DomainWatch = field(init=False)
    _busy_hosts: BusyHosts = field(default_factory=BusyHosts)
    _clocks: Clocks = field(default_factory=Clocks)
    _job_pace: JobPace = field(default_factory=JobPace)
    excuses: Excuses = field(default_factory=Excuses)
    """Why nodes are not accused whose evidence would decide."""
    _present: _Present = field(default_factory=_Present)
    _step_seconds: float = 0.0
    """How long a step takes; 0 while it is not known."""
    _waiting: dict[NodeName, int] = field(default_factory=dict)
    """Since when a node could have been accused and waits for the others of its domain."""

    def __post_init__(self) -> None:
        self._tests = {kind: RowsTest.of(self.settings) for kind in (Entity.GPU, Entity.NODE)}
        self._domains = DomainWatch(self.settings)

    def restart(self) -> None:
        """Forget all evidence; what is known of the machines is kept."""
        self._waiting.clear()
        self._domains.restart()
        for test in self._tests.values():
            test.restart()

    def stand(self) -> None:
        """The job does nothing, which makes nobody well."""
        for test in self._tests.values():
            test.evidence.stand()

    def weigh(
        self,
        windows: Mapping[Entity, Window],
        roles: JobRoles | None = None,
        *,
        standing_since: int | None = None,
        accused: frozenset[NodeName] = frozenset(),
    ) -> Judged:
        """Add a slot of all kinds; returns whose evidence has reached the level.

        Who is `accused` already is asked nothing more, and is still a rival of others.

        A job that stands still is stopped by no chore and by no clock: they explain nothing that
        began with it, and who was busy before it stood has no part in it.
        """
        stands = standing_since is not None
        busy_seconds = _STANDING_SECONDS if stands else self._job_pace.busy_seconds
        now = windows[Entity.GPU].last_second
        has_stood = stands and now - (standing_since or 0) >= _LATE_SECONDS
        kinds = [kind for kind in self._tests if windows[kind].rows]
        rows = sum(len(windows[kind].rows) for kind in kinds)
        self._follow_steps(windows[Entity.GPU])
        self._job_pace.look(windows[Entity.GPU], self._step_seconds)
        settings = _settling(self.settings, windows[Entity.GPU].slot_seconds)
        for kind in kinds:
            self._tests[kind].weigh(
                windows[kind], roles, rows, settings,
                self._step_seconds, busy_seconds, has_stood,
            )  # fmt: skip
        self._busy_hosts.look(self._tests[Entity.NODE].slot, self._pace, now)
        if roles is not None:
            present = self._present.of([windows[kind].rows for kind in kinds])
            self._domains.weigh(windows, roles.domains(present))
        befallen = self._domains.befallen(windows)
        if not any((test.evidence.strength >= SUSPECT).any() for test in self._tests.values()):
            self._waiting.clear()
            return Judged((), befallen)
        standing = self.standings()
        found = self._alone(kinds, windows, standing, roles, standing_since, accused)
        return Judged(tuple(self._with_a_part(found, standing_since)), befallen)

    def _follow_steps(self, window: Window) -> None:
        """Look now and then how long a step takes; what is not seen is as it was."""
        if window.last_second // window.slot_seconds % _SLOTS_BETWEEN_LOOKS == 0:
            self._step_seconds = step_seconds(window) or self._step_seconds

    def _alone(
        self,
        kinds: list[Entity],
        windows: Mapping[Entity, Window],
        standing: Mapping[NodeName, NodeEvidence],
        roles: JobRoles | None,
        standing_since: int | None,
        accused: frozenset[NodeName],
    ) -> list[Departure]:
        """Who is accused alone now, the surest first."""
        stands = standing_since is not None
        found: dict[NodeName, Departure] = {}
        for kind in kinds:
            for one in self._departures(kind, windows[kind], roles, standing_since, accused):
                if not stands and self._is_only_busy(one, kind, windows[kind], standing):
                    continue
                if self._domains.explains(one):
                    self._excuse(one, Excuse.DOMAIN, 100 * self._domains.strength_of(one.node), 100)
                else:
                    found.setdefault(one.node, one)
        alone = [one for one in found.values() if not self._waits(one, standing)]
        return sorted(alone, key=lambda one: one.level - one.nats)

    def _is_only_busy(
        self,
        one: Departure,
        kind: Entity,
        window: Window,
        standing: Mapping[NodeName, NodeEvidence],
    ) -> bool:
        """Whether a busy host, its own or another's, explains it, and costs the job little."""
        cost = Cost.of(one, window)
        spared = self._busy_hosts.spare(one, standing, cost)
        if spared is Spared.FOR_NOW:
            self._excuse(one, Excuse.BUSY, cost.lost_seconds, BORNE_SECONDS)
        elif spared is Spared.AS_OVER:
            self._excuse(one, Excuse.NO_LONGER_BUSY)
        elif spared is Spared.AND_DOUBTED:
            self._tests[kind].doubt(one.alike)
            self._excuse(one, Excuse.WAS_BUSY)
        return spared is not Spared.NOT

    def standings(self) -> dict[NodeName, NodeEvidence]:
        """How the evidence stands against each suspect, by the row that has most of it."""
        found: dict[NodeName, NodeEvidence] = {}
        for evidence in self._evidence():
            strength = evidence.strength
            for at in np.flatnonzero(strength >= SUSPECT).tolist():
                node = evidence.rows[at].node
                known = found.get(node)
                if known is None or strength[at] > known.strength:
                    found[node] = NodeEvidence(float(strength[at]), evidence.since(at))
        return found

    @property
    def tests(self) -> Mapping[Entity, RowsTest]:
        """The tests of GPUs and hosts, for whoever explains them."""
        return self._tests

    @property
    def domains(self) -> DomainWatch:
        """The tests of what nodes share."""
        return self._domains

    def suspicion(self) -> dict[NodeName, float]:
        """The strongest evidence against each node, in nats."""
        found: dict[NodeName, float] = {}
        for evidence in self._evidence():
            nats = evidence.nats
            for at in np.flatnonzero(nats > 0).tolist():
                node = evidence.rows[at].node
                found[node] = max(found.get(node, 0.0), float(nats[at]))
        return found

    def is_well(self, node: NodeName, slot_seconds: int) -> bool:
        """Whether no row of the node has been suspected for long enough."""
        calm, needed = self.calm_seconds(node, slot_seconds)
        return calm is not None and calm >= needed

    def calm_seconds(self, node: NodeName, slot_seconds: int) -> tuple[float | None, float]:
        """For how long no row of the node has been suspected, and how long is enough; None where
        it has no rows."""
        needed = max(
            _FEWEST_CALM_SLOTS * slot_seconds, float(self.settings.healthy_seconds_to_resolve)
        )
        calm = [
            evidence.calm_slots[at] * slot_seconds
            for evidence in self._evidence()
            for at, row in enumerate(evidence.rows)
            if row.node == node
        ]
        return (float(min(calm)) if calm else None), needed

    def are_well(self, nodes: tuple[NodeName, ...], slot_seconds: int) -> bool:
        """Whether what nodes of a group share is well again."""
        return self._domains.is_well(nodes, slot_seconds)

    def calm_of_group(
        self, nodes: tuple[NodeName, ...], slot_seconds: int
    ) -> tuple[float | None, float]:
        """For how long nothing has spoken against what they share, and how long is enough."""
        return self._domains.calm_seconds(nodes, slot_seconds)

    def _evidence(self) -> Iterator[Evidence]:
        yield from (test.evidence for test in self._tests.values())

    def _waits(self, one: Departure, standing: Mapping[NodeName, NodeEvidence]) -> bool:
        """Whether to give others a moment before one is accused alone."""
        begun = self._waiting.setdefault(one.node, one.second)
        longest = self.settings.rival_wait_seconds if _has_rival(one, standing) else 0.0
        waited = one.second - begun
        if waited < longest:
            self._excuse(one, Excuse.WAITS, waited, longest)
        return waited < longest

    def _excuse(
        self,
        one: Departure,
        excuse: Excuse,
        now: float | None = None,
        needed: float | None = None,
    ) -> None:
        self.excuses.give(one.node, excuse, one.second, now, needed)

    def _departures(
        self,
        kind: Entity,
        window: Window,
        roles: JobRoles | None,
        standing_since: int | None,
        accused: frozenset[NodeName],
    ) -> Iterator[Departure]:
        """Those who stand out, and who have no excuse."""
        test = self._tests[kind]
        if test.slot is None:
            return
        strength = test.evidence.strength
        if kind is Entity.GPU:
            strength = with_hosts(test.evidence, self._tests[Entity.NODE].evidence)
        decided = np.flatnonzero(strength >= 1).tolist()
        if accused.issuperset(window.rows[at].node for at in decided):
            return
        hosts = test.hosts_of(window.rows)
        picture = Picture(test.slot.deviation(self._pace).T, hosts)
        for one in self._who_stand_out(test, window, hosts, picture, strength):
            alike = picture.alike(one, strength)
            is_over = test.evidence.calm_slots[list(alike)].min() > 0
            if strength[list(alike)].max() < 1 or is_over or window.rows[one.at].node in accused:
                continue
            departure = departure_of(test, window, alike, len(hosts.members(one.circle)))
            job_lost_share = self._job_pace.lost_share(departure.since)
            departure = replace(departure, job_lost_share=job_lost_share)
            harmless = self._harmless_seconds(departure, standing_since)
            is_soon = departure.seconds < harmless
            most_suspected = np.median(strength[hosts.members(one.circle)]) >= SUSPECT
            if kind is Entity.GPU and is_soon and (departure.gpu is None or most_suspected):
                self._excuse(departure, Excuse.SOON, departure.seconds, harmless)
            elif standing_since is None and (
                is_past(window, departure, max(_STILL_SECONDS, self._step_seconds))
            ):
                self._excuse(departure, Excuse.PAST)
            elif (share := _material_share(window, departure)) < GOOD_PART:
                self._excuse(departure, Excuse.SMALL, 100 * share, 100 * GOOD_PART)
            elif _is_of_work_time(departure, standing_since) and self._clocks.explain(
                test, window, departure, roles
            ):
                test.doubt(departure.alike)
                self._excuse(departure, Excuse.CLOCK)
            else:
                yield departure

    def _harmless_seconds(self, departure: Departure, standing_since: int | None) -> float:
        """How long what befalls all GPUs of a node has to last."""
        rest = standing_since is None and any(
            departure.told_by.get(metric, 0.0) < 0 for metric in departure.loud if metric in _BUSY
        )
        settings = self.settings
        return settings.idle_harmless_seconds if rest else settings.node_harmless_seconds

    def _who_stand_out(
        self,
        test: RowsTest,
        window: Window,
        hosts: Circles,
        picture: Picture,
        rows_strength: NDArray[np.float64],
    ) -> list[Suspect]:
        """The culprits among the suspected nodes, as long as they are no crowd."""
        strength = hosts.highest(rows_strength)
        suspects = [
            replace(one, is_sick=test.is_sick(hosts.members(one.circle)))
            for one in map(picture.suspect, np.flatnonzero(strength >= SUSPECT).tolist())
        ]
        found = culprits(suspects, self.settings.victim_share)
        most = max(1.0, self.settings.largest_crowd_share * len(hosts.seats))
        is_crowd = len(found) > most
        spared = suspects if is_crowd else [one for one in suspects if one not in found]
        for one in spared:
            if strength[one.circle] >= 1:
                why = (
                    (Excuse.CROWD, len(found), math.floor(most))
                    if is_crowd
                    else why_spared(one, suspects, self.settings.victim_share)
                )
                excuse, now, needed = why
                node = window.rows[one.at].node
                self.excuses.give(node, excuse, window.last_second, now, needed)
        return [] if is_crowd else found

    def _with_a_part(
        self, found: list[Departure], standing_since: int | None
    ) -> Iterator[Departure]:
        for one in found:
            if standing_since is not None and has_no_part(one, standing_since):
                self._excuse(one, Excuse.NO_PART)
            else:
                yield one

    @property
    def _pace(self) -> int:
        return min(_STEADY_PACE, len(self.settings.smoothing_seconds) - 1)


def _settling(settings: DepartureSettings, slot_seconds: int) -> DepartureSettings:
    """With as much time to learn as samples that are seconds apart need."""
    if slot_seconds == 1:
        return settings
    return replace(
        settings, learning_seconds=max(settings.learning_seconds, _SELDOM_LEARNING_SECONDS)
    )


def _material_share(window: Window, departure: Departure) -> float:
    """All of it where every sample tells that the whole job has lost much: who is waited for may
    differ little."""
    if (departure.job_lost_share or 0.0) >= _MUCH_LOST and window.slot_seconds == 1:
        return 1.0
    return material_share(window, departure)


def _is_of_work_time(departure: Departure, standing_since: int | None) -> bool:
    """Whether it began while the job worked: a clock that is off does not begin with a stand."""
    return standing_since is None or departure.since < standing_since


def _has_rival(one: Departure, standing: Mapping[NodeName, NodeEvidence]) -> bool:
    """Whether another node is suspected since about the same time."""
    return any(other.began_about(one.since) for node, other in standing.items() if node != one.node)
