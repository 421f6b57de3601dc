"""Finds the GPUs and nodes that have departed from their peers, and names them once it is safe.

All rows of one kind with the same role are peers. In a synchronous job everybody waits for a slow
machine, and not everybody alike: only who stands apart from all others is accused (see
`separation`). Several GPUs of one node that depart together are the node's trouble; nodes of one
switch, rack or stage that depart at once are a group's, and when a good part of all nodes stands
apart, nobody is accused: something befalls the job.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.clock_shift import is_shifted
from paramedic.diagnosis.evidence import Evidence
from paramedic.diagnosis.grouping import Group, GroupSettings, find_group, may_become_group
from paramedic.diagnosis.materiality import is_material
from paramedic.diagnosis.rows_test import RowsTest
from paramedic.diagnosis.separation import Picture, culprits
from paramedic.ingest.contract import Entity, EntityKey, NodeName
from paramedic.models.departure.model import DepartureConfig

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from numpy.typing import NDArray

    from paramedic.diagnosis.roles import JobRoles
    from paramedic.diagnosis.settings import DepartureSettings
    from paramedic.ingest.contract import Window

_SUSPECT = 1 / 3
"""A row with so much of the evidence that decides is suspected."""
_LOUD_SHARE = 0.1
"""A metric with so much of what the loudest says is loud."""
_KEPT_OF_SHIFTED = 0.3
"""What is kept of the evidence against a machine whose clock explains it."""
_STEADY_PACE = 1
"""The pace at which machines are told apart: less noise than the first, sooner than the last."""
_ENOUGH_PEERS = 64
_MOSTLY = 0.5
_TOGETHER_SECONDS = 12
"""Evidence that began no further apart may have one cause."""


@dataclass(frozen=True, slots=True)
class Departure:
    """A GPU, or a node, whose evidence has reached the level."""

    row: EntityKey
    """The strongest of its rows."""
    gpu: int | None
    """None when it is the node's trouble."""
    alike: tuple[EntityKey, ...]
    """The node's rows that depart together."""
    since: int
    """The second in which the evidence began."""
    second: int
    nats: float
    level: float
    told_by: Mapping[str, float]
    """Signed deviation of the metrics that speak against it, the loudest first."""
    loud: tuple[str, ...]
    """Those that say most of it."""

    @property
    def node(self) -> NodeName:
        """The node that is named."""
        return self.row.node

    @property
    def seconds(self) -> int:
        """For how long there has been evidence."""
        return self.second - self.since + 1


@dataclass(frozen=True, slots=True)
class NodeEvidence:
    """The strongest of what speaks against a node."""

    strength: float
    """As a share of what decides."""
    since: int


@dataclass(frozen=True, slots=True)
class Judged:
    """What one slot decides."""

    departures: tuple[Departure, ...]
    group: Group | None


@dataclass(slots=True)
class DepartureWatch:
    """The tests of one job's GPUs and nodes."""

    settings: DepartureSettings
    grouping: GroupSettings = field(
        default_factory=lambda: GroupSettings(longest_wait_seconds=60.0)
    )
    _tests: dict[Entity, RowsTest] = field(init=False)
    _waiting: dict[NodeName, int] = field(default_factory=dict)
    """Since when a node could have been accused and waits for the others of its domain."""

    def __post_init__(self) -> None:
        config = DepartureConfig(smoothing_seconds=self.settings.smoothing_seconds)
        paces = len(self.settings.smoothing_seconds)
        self._tests = {
            kind: RowsTest(config.build(), Evidence(paces)) for kind in (Entity.GPU, Entity.NODE)
        }

    def restart(self) -> None:
        """Forget all evidence; what is known of the machines is kept."""
        self._waiting.clear()
        for test in self._tests.values():
            test.restart()

    def weigh(self, windows: Mapping[Entity, Window], roles: JobRoles | None = None) -> Judged:
        """Add a slot of all kinds; returns whose evidence has reached the level."""
        kinds = [kind for kind in self._tests if windows[kind].rows]
        rows = sum(len(windows[kind].rows) for kind in kinds)
        for kind in kinds:
            self._tests[kind].weigh(windows[kind], roles, rows, self.settings)
        if not any((test.evidence.strength >= _SUSPECT).any() for test in self._tests.values()):
            self._waiting.clear()
            return Judged((), None)
        standing = self.standings()
        found: dict[NodeName, Departure] = {}
        for kind in kinds:
            for one in self._departures(kind, windows[kind], roles):
                found.setdefault(one.node, one)
        group, alone = self._sorted_out(found, standing, roles, windows)
        return Judged(alone, group)

    def _sorted_out(
        self,
        found: Mapping[NodeName, Departure],
        standing: Mapping[NodeName, NodeEvidence],
        roles: JobRoles | None,
        windows: Mapping[Entity, Window],
    ) -> tuple[Group | None, tuple[Departure, ...]]:
        """The group that departs together, and who is accused alone now."""
        domains = {} if roles is None else roles.domains(standing)
        strengths = {node: one.strength for node, one in standing.items()}
        since = {node: float(one.since) for node, one in standing.items() if one.strength > 0}
        group = find_group(domains, strengths, since, self.grouping)
        if group is not None and self._is_young(group, windows):
            group = None
        alone = []
        for one in found.values():
            if group is not None and one.node in group.members:
                continue
            longest = 0.0
            if may_become_group(one.node, domains, strengths, since, self.grouping):
                longest = self.grouping.longest_wait_seconds
            elif _has_rival(one, standing):
                longest = self.settings.rival_wait_seconds
            if not self._waits(one, longest):
                alone.append(one)
        return group, tuple(alone)

    def strongest_of(
        self, nodes: Collection[NodeName], windows: Mapping[Entity, Window]
    ) -> Departure | None:
        """What speaks loudest against any of these nodes; None where nothing does."""
        best: tuple[float, Entity, int] | None = None
        for kind, test in self._tests.items():
            strength = test.evidence.strength
            for at, row in enumerate(test.evidence.rows):
                if row.node in nodes and strength[at] > (best[0] if best else 0.0):
                    best = (float(strength[at]), kind, at)
        if best is None:
            return None
        _, kind, at = best
        return self._departure(self._tests[kind], windows[kind], (at,), 1)

    def standings(self) -> dict[NodeName, NodeEvidence]:
        """How the evidence stands against each node, by the row that has most of it."""
        found: dict[NodeName, NodeEvidence] = {}
        for evidence in self._evidence():
            strength = evidence.strength
            for at, row in enumerate(evidence.rows):
                known = found.get(row.node)
                if known is None or strength[at] > known.strength:
                    found[row.node] = NodeEvidence(float(strength[at]), evidence.since(at))
        return found

    def rows_of(self, node: NodeName) -> Iterator[tuple[EntityKey, float, float, int]]:
        """Each row of the node: evidence in nats, the level, and when it began."""
        for evidence in self._evidence():
            nats = evidence.nats
            for at, row in enumerate(evidence.rows):
                if row.node == node:
                    yield row, float(nats[at]), evidence.level, evidence.since(at)

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
        """Whether nothing has spoken against any row of the node for long enough."""
        enough = self.settings.healthy_seconds_to_resolve / slot_seconds
        return all(
            evidence.calm_slots[at] >= enough
            for evidence in self._evidence()
            for at, row in enumerate(evidence.rows)
            if row.node == node
        )

    def _evidence(self) -> Iterator[Evidence]:
        yield from (test.evidence for test in self._tests.values())

    def _is_young(self, group: Group, windows: Mapping[Entity, Window]) -> bool:
        now = max(window.last_second for window in windows.values())
        return now - group.since < self.settings.group_harmless_seconds

    def _waits(self, one: Departure, longest_seconds: float) -> bool:
        """Whether to give others a moment before one is accused alone."""
        begun = self._waiting.setdefault(one.node, one.second)
        return one.second - begun < longest_seconds

    def _departures(
        self, kind: Entity, window: Window, roles: JobRoles | None
    ) -> Iterator[Departure]:
        """The culprits among those with evidence against them, as long as they are no crowd."""
        test = self._tests[kind]
        strength = test.evidence.strength
        if test.slot is None or not (strength >= 1).any():
            return
        hosts = test.hosts_of(window.rows)
        picture = Picture(test.slot.deviation[self._pace].T, hosts)
        suspected = [
            at for at in range(len(hosts.seats)) if strength[hosts.members(at)].max() >= _SUSPECT
        ]
        found = culprits(map(picture.suspect, suspected), self.settings.victim_share)
        if len(found) > max(1.0, self.settings.largest_crowd_share * len(hosts.seats)):
            return
        for one in found:
            alike = picture.alike(one)
            if strength[list(alike)].max() < 1:
                continue
            departure = self._departure(test, window, alike, len(hosts.members(one.circle)))
            is_soon = departure.seconds < self.settings.node_harmless_seconds
            if departure.gpu is None and kind is Entity.GPU and is_soon:
                continue
            if not is_material(window, departure):
                continue
            if self._is_shifted(test, window, departure, roles):
                test.evidence.doubt(list(alike), _KEPT_OF_SHIFTED)
                continue
            yield departure

    @property
    def _pace(self) -> int:
        return min(_STEADY_PACE, len(self.settings.smoothing_seconds) - 1)

    def _is_shifted(
        self, test: RowsTest, window: Window, departure: Departure, roles: JobRoles | None
    ) -> bool:
        """Whether the clock of the machine explains most of what speaks against it."""
        assert test.slot is not None  # it has been weighed
        at = window.rows.index(departure.row)
        speaks, works = test.evidence.speakers(at), test.slot.characters.work
        if speaks[works].sum() < _MOSTLY * speaks.sum():
            return False
        loud = np.flatnonzero(works & (speaks > 0)).tolist()
        metrics = [window.metrics.index(test.slot.metrics[m]) for m in loud]
        circles = test.peers_of(window.rows, roles)
        among = range(len(window.rows)) if circles is None else circles.fellows(at).tolist()
        peers = [one for one in among if window.rows[one].node != departure.node]
        return is_shifted(window, at, peers[:_ENOUGH_PEERS], metrics, departure.since)

    def _departure(
        self, test: RowsTest, window: Window, alike: tuple[int, ...], of: int
    ) -> Departure:
        evidence, slot = test.evidence, test.slot
        assert slot is not None  # it has been weighed
        strength = evidence.strength
        at = max(alike, key=lambda one: float(strength[one]))
        row = window.rows[at]
        is_nodes = row.index is None or len(alike) > max(1, of // 2)
        pace = evidence.pace_of(at)
        loud = evidence.speakers(at)
        deviation: NDArray[np.float64] = slot.deviation[pace, :, at]
        ranked = np.lexsort((-np.abs(deviation), -loud)).tolist()
        return Departure(
            row=row,
            gpu=None if is_nodes else row.index,
            alike=tuple(window.rows[one] for one in (alike if is_nodes else (at,))),
            since=evidence.since(at),
            second=window.last_second,
            nats=float(evidence.nats[at]),
            level=evidence.level,
            told_by={slot.metrics[m]: float(deviation[m]) for m in ranked},
            loud=tuple(
                slot.metrics[m] for m in ranked if loud[m] >= _LOUD_SHARE * loud[ranked[0]] > 0
            ),
        )


def _has_rival(one: Departure, standing: Mapping[NodeName, NodeEvidence]) -> bool:
    """Whether another node is suspected since about the same time."""
    return any(
        other.strength >= _SUSPECT and abs(other.since - one.since) <= _TOGETHER_SECONDS
        for node, other in standing.items()
        if node != one.node
    )
