"""Finds the GPUs and nodes that have departed from their peers, and names them once it is safe.

All rows of one kind in the job are peers. Each kind is tested at several paces; the strongest
counts. Several GPUs of one node that depart together are the node's trouble, and when a good part
of all rows depart, nobody is accused: something befalls the job.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.evidence import level_nats
from paramedic.diagnosis.judged_metrics import peers_part
from paramedic.diagnosis.paced import PacedTest
from paramedic.ingest.contract import Entity
from paramedic.models.peer_departure import PeerDepartureConfig

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from paramedic.diagnosis.settings import DepartureSettings
    from paramedic.ingest.contract import EntityKey, NodeName, Window

_ALIKE = 1 / 3
"""A GPU with so much of the evidence that decides departs together with its neighbour."""
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
        self._tests = {
            Entity.GPU: [
                _test(PeerDepartureConfig(smoothing_seconds=pace), settings.gpu_harmless_seconds)
                for pace in settings.smoothing_seconds
            ],
            Entity.NODE: [
                _test(
                    PeerDepartureConfig(smoothing_seconds=pace, forgiven_share=_NODE_STEADY_SHARE),
                    settings.node_harmless_seconds,
                )
                for pace in settings.smoothing_seconds
            ],
        }

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
                test.weigh(part, level, self._settings)
            for departure in self._departures(kind, part):
                found.setdefault(departure.node, departure)
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
        suspects = np.count_nonzero(strongest >= _ALIKE)
        if suspects > self._settings.largest_crowd_share * len(part.rows):
            return
        for _, members in groupby(range(len(part.rows)), key=lambda at: part.rows[at].node):
            positions = list(members)
            if (strongest[positions] >= 1).any():
                yield self._departure(kind, part, positions, strengths)

    def _departure(
        self, kind: Entity, part: Window, positions: list[int], strengths: NDArray[np.float64]
    ) -> Departure:
        strongest = strengths.max(axis=0)
        at = max(positions, key=lambda one: float(strongest[one]))
        alike = tuple(one for one in positions if strongest[one] >= _ALIKE)
        is_nodes = kind is Entity.NODE or len(alike) > max(1, len(positions) // 2)
        return Departure(
            row=part.rows[at],
            gpu=None if is_nodes else part.rows[at].index,
            test=self._tests[kind][int(strengths[:, at].argmax())],
            at=at,
            second=part.last_second,
            alike=alike if is_nodes else (at,),
        )


def _test(config: PeerDepartureConfig, harmless_seconds: float) -> PacedTest:
    return PacedTest(config.build(), config.smoothing_seconds, harmless_seconds)
