"""Finds the GPUs and nodes that have departed from their peers, and names them once it is safe.

All rows of one kind in the job are peers, and so are the GPUs of one node among themselves. Each
kind is tested at several paces; the strongest counts. In a synchronous job everybody waits for a
slow machine, and not everybody alike: only who stands apart from all others is accused (see
`separation`). Several GPUs of one node that depart together are the node's trouble, and when a good
part of all nodes stands apart, nobody is accused: something befalls the job.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.evidence import level_nats
from paramedic.diagnosis.judged_metrics import peers_part
from paramedic.diagnosis.paced import PacedTest
from paramedic.diagnosis.separation import Picture, Suspect, culprits
from paramedic.ingest.contract import Entity
from paramedic.models.circles import Circles
from paramedic.models.peer_departure import PeerDepartureConfig

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from paramedic.diagnosis.settings import DepartureSettings
    from paramedic.ingest.contract import EntityKey, NodeName, Window

_SUSPECT = 1 / 3
"""A row with so much of the evidence that decides is suspected."""
_NODE_STEADY_SHARE = 1.0
"""Hosts are no clones: one of them serves files, another logs. Their steady differences are taken
off up to their peers' whole level, where GPUs' are up to the model's own share."""
_NODE_FLOOR_SHARE = 0.1
"""And a few percent more or less of what a host does mean nothing, however steady its peers are."""


@dataclass(frozen=True, slots=True)
class Departure:
    """A GPU, or a node, whose evidence has reached the level."""

    row: EntityKey
    """The strongest of its rows."""
    gpu: int | None
    """None when it is the node's trouble."""
    test: PacedTest
    at: int
    """The row's position."""
    second: int
    alike: tuple[int, ...]
    """Positions of the node's rows that depart together."""

    @property
    def node(self) -> NodeName:
        """The node that is named."""
        return self.row.node

    @property
    def since(self) -> int:
        """The second in which the evidence began."""
        return int(self.test.evidence.since[self.at])

    @property
    def seconds(self) -> int:
        """For how long there has been evidence."""
        return self.second - self.since + 1


class DepartureWatch:
    """The tests of one job's GPUs and nodes."""

    def __init__(self, settings: DepartureSettings) -> None:
        self._settings = settings
        self._hosts = {kind: _Hosts() for kind in (Entity.GPU, Entity.NODE)}
        glitch, chore = settings.gpu_harmless_seconds, settings.host_harmless_seconds
        self._tests: dict[Entity, list[PacedTest]] = {Entity.GPU: [], Entity.NODE: []}
        for pace in settings.smoothing_seconds:
            config = PeerDepartureConfig(smoothing_seconds=pace)
            hosts = replace(
                config, forgiven_share=_NODE_STEADY_SHARE, floor_share=_NODE_FLOOR_SHARE
            )
            self._tests[Entity.GPU] += [
                PacedTest(config.build(), pace, glitch, is_among_siblings=siblings)
                for siblings in (False, True)
            ]
            self._tests[Entity.NODE].append(PacedTest(hosts.build(), pace, chore))

    def restart(self) -> None:
        """Forget all evidence; what is known of the machines is kept."""
        for test in self._all():
            test.restart()

    def weigh(self, windows: Mapping[Entity, Window]) -> list[Departure]:
        """Add a slot of all kinds; returns whose evidence has reached the level, by node."""
        parts = {kind: peers_part(window) for kind, window in windows.items() if window.rows}
        rows = sum(len(part.rows) for part in parts.values())
        found: dict[NodeName, Departure] = {}
        for kind, part in parts.items():
            paces = self._tests[kind]
            tests = rows * len(paces)
            level = level_nats(self._settings.false_alarms_per_job_day, tests, part.slot_seconds)
            for test in paces:
                circles = self._hosts[kind].of(part) if test.is_among_siblings else None
                test.weigh(part, circles, level, self._settings)
            for departure in self._departures(kind, part):
                found.setdefault(departure.node, departure)
            if found:  # a host is not asked as long as GPUs explain what happens
                break
        return list(found.values())

    def suspicion(self) -> dict[NodeName, float]:
        """The strongest evidence against each node, in nats."""
        found: dict[NodeName, float] = {}
        for test in self._all():
            if test.scores is None:
                continue
            score = test.evidence.score
            for at in np.flatnonzero(score > 0).tolist():
                node = test.scores.rows[at].node
                found[node] = max(found.get(node, 0.0), float(score[at]))
        return found

    def is_well(self, node: NodeName, slot_seconds: int) -> bool:
        """Whether nothing has spoken against any row of the node for long enough."""
        enough = self._settings.healthy_seconds_to_resolve / slot_seconds
        return all(
            test.evidence.calm_slots[at] >= enough
            for test in self._all()
            if test.scores is not None
            for at, row in enumerate(test.scores.rows)
            if row.node == node
        )

    def _all(self) -> Iterator[PacedTest]:
        for paces in self._tests.values():
            yield from paces

    def _departures(self, kind: Entity, part: Window) -> Iterator[Departure]:
        """The culprits among those with evidence against them, as long as they are no crowd."""
        strengths = np.stack([test.strength() for test in self._tests[kind]])
        strongest = strengths.max(axis=0)
        scores = self._widest(kind).scores
        if not (strongest >= 1).any() or scores is None:
            return
        nodes = self._hosts[kind].of(part)
        picture = Picture(scores, nodes)
        circles = [at for at in range(len(nodes.seats)) if _most(strongest, nodes, at) >= _SUSPECT]
        found = culprits(map(picture.suspect, circles), self._settings.victim_share)
        if len(found) > max(1.0, self._settings.largest_crowd_share * len(nodes.seats)):
            return
        for one in found:
            alike = picture.alike(one)
            if strongest[list(alike)].max() < 1:
                continue
            departure = self._departure(kind, part, one, alike, strengths)
            if (
                departure.gpu is not None
                or departure.seconds >= self._settings.node_harmless_seconds
            ):
                yield departure

    def _widest(self, kind: Entity) -> PacedTest:
        """The slowest pace against all peers: it has the least noise."""
        return [test for test in self._tests[kind] if not test.is_among_siblings][-1]

    def _is_nodes(self, part: Window, suspect: Suspect, alike: tuple[int, ...], at: int) -> bool:
        """Whether most GPUs of the node depart, and this one not from the others."""
        members = self._hosts[Entity.GPU].of(part).members(suspect.circle)
        half = max(1, len(members) // 2)
        among = _strongest([t for t in self._tests[Entity.GPU] if t.is_among_siblings])
        against_all = _strongest([t for t in self._tests[Entity.GPU] if not t.is_among_siblings])
        suspected = np.count_nonzero(against_all[members] >= _SUSPECT)
        return len(alike) > half or bool(suspected > half and among[at] < _SUSPECT)

    def _departure(
        self,
        kind: Entity,
        part: Window,
        suspect: Suspect,
        alike: tuple[int, ...],
        strengths: NDArray[np.float64],
    ) -> Departure:
        at = max(alike, key=lambda one: float(strengths[:, one].max()))
        is_nodes = kind is Entity.NODE or self._is_nodes(part, suspect, alike, at)
        return Departure(
            row=part.rows[at],
            gpu=None if is_nodes else part.rows[at].index,
            test=self._tests[kind][int(strengths[:, at].argmax())],
            at=at,
            second=part.last_second,
            alike=alike if is_nodes else (at,),
        )


def _strongest(tests: list[PacedTest]) -> NDArray[np.float64]:
    """Each row's evidence by the test that has most of it."""
    strongest: NDArray[np.float64] = np.stack([test.strength() for test in tests]).max(axis=0)
    return strongest


def _most(strongest: NDArray[np.float64], nodes: Circles, circle: int) -> float:
    """The strongest evidence against any row of the node."""
    return float(strongest[nodes.members(circle)].max())


@dataclass(slots=True)
class _Hosts:
    """The rows of each node; its GPUs share a host, a pipeline stage and whom they wait for."""

    _rows: tuple[EntityKey, ...] = ()
    _circles: Circles | None = None

    def of(self, part: Window) -> Circles:
        """The circles of a window's rows."""
        if self._circles is None or part.rows is not self._rows:
            self._rows, self._circles = part.rows, Circles.of([row.node for row in part.rows])
        return self._circles
