"""Finds the GPUs and nodes that have departed from their peers, and names them once it is safe.

All rows of one kind in the job are peers, and so are the GPUs of one node among themselves. Each
kind is tested at several paces; the strongest counts. In a synchronous job everybody waits for a
slow machine, and not everybody alike: only who is about as far out as the farthest is accused, the
others are its victims. Several GPUs of one node that depart together are the node's trouble, and
when a good part of all rows depart, nobody is accused: something befalls the job.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.evidence import level_nats
from paramedic.diagnosis.judged_metrics import peers_part
from paramedic.diagnosis.paced import PacedTest
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


class DepartureWatch:
    """The tests of one job's GPUs and nodes."""

    def __init__(self, settings: DepartureSettings) -> None:
        self._settings = settings
        self._siblings = _Siblings()
        glitch, chore = settings.gpu_harmless_seconds, settings.node_harmless_seconds
        self._tests: dict[Entity, list[PacedTest]] = {Entity.GPU: [], Entity.NODE: []}
        for pace in settings.smoothing_seconds:
            config = PeerDepartureConfig(smoothing_seconds=pace)
            hosts = PeerDepartureConfig(smoothing_seconds=pace, forgiven_share=_NODE_STEADY_SHARE)
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
                circles = self._siblings.of(part) if test.is_among_siblings else None
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
        strengths = np.stack([test.strength() for test in self._tests[kind]])
        strongest = strengths.max(axis=0)
        if not (strongest >= 1).any():
            return
        far_out = self._far_out(kind)
        suspects = np.flatnonzero((strongest >= _SUSPECT) & far_out)
        accused = {part.rows[at].node for at in suspects.tolist() if strongest[at] >= 1}
        if not self._is_crowd(part, suspects):
            for node in sorted(accused):
                yield self._departure(kind, part, node, strengths, far_out)

    def _far_out(self, kind: Entity) -> NDArray[np.bool_]:
        """Which rows are no victims, by the slowest pace against all peers."""
        out = [test.departure for test in self._tests[kind] if not test.is_among_siblings][-1]
        farthest = np.nanmax(out, initial=0.0)
        return np.nan_to_num(out) >= self._settings.victim_share * farthest

    def _is_crowd(self, part: Window, suspects: NDArray[np.intp]) -> bool:
        share = self._settings.largest_crowd_share
        nodes = {part.rows[at].node for at in suspects.tolist()}
        everybody = {row.node for row in part.rows}
        return suspects.size > share * len(part.rows) or (
            len(nodes) > max(1.0, share * len(everybody))
        )

    def _departure(
        self,
        kind: Entity,
        part: Window,
        node: NodeName,
        strengths: NDArray[np.float64],
        far_out: NDArray[np.bool_],
    ) -> Departure:
        strongest = strengths.max(axis=0)
        positions = [at for at, row in enumerate(part.rows) if row.node == node]
        alike = tuple(at for at in positions if strongest[at] >= _SUSPECT and far_out[at])
        at = max(alike, key=lambda one: float(strongest[one]))
        is_nodes = kind is Entity.NODE or len(alike) > max(1, len(positions) // 2)
        return Departure(
            row=part.rows[at],
            gpu=None if is_nodes else part.rows[at].index,
            test=self._tests[kind][int(strengths[:, at].argmax())],
            at=at,
            second=part.last_second,
            alike=alike if is_nodes else (at,),
        )


@dataclass(slots=True)
class _Siblings:
    """The GPUs of each node; they share a host, a pipeline stage and whom they wait for."""

    _rows: tuple[EntityKey, ...] = ()
    _circles: Circles | None = None

    def of(self, part: Window) -> Circles:
        """The circles of a window's rows."""
        if self._circles is None or part.rows is not self._rows:
            self._rows, self._circles = part.rows, Circles.of([row.node for row in part.rows])
        return self._circles
