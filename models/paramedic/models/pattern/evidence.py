"""From scores of rows to evidence against machines: a plain CUSUM on what a machine is odder by
than its peers.

A machine is as odd in a metric as its oddest row. What several other machines show in the same
metric at once is taken off: who waits for a slow machine looks odd as well. What is left of all
metrics adds up, the second oddest at half its weight, the third at a third of it, because metrics
of one machine move together: one that shouts and several that murmur both count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.grouping import Grouping
from paramedic.models.leave_one_out import leave_one_out_largest
from paramedic.models.pattern.metric_kinds import name_at_machine
from paramedic.models.pattern.panels import PanelKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from paramedic.ingest.contract import NodeName
    from paramedic.models.pattern.panels import Panel
    from paramedic.models.pattern.settings import PatternSettings

    Singles = NDArray[np.float32]
    Floats = NDArray[np.float64]

_MOST_METRICS = 8
"""Metrics beyond the oddest few add next to nothing."""
_FADING = 0.98
_ALONE_SHARE = 0.5
"""A node's second oddest GPU has at most so much against it where the oddest is named."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Some slots, (slots, nodes)."""

    nats: Floats
    """What has added up against each node."""
    gpu: NDArray[np.int16]
    """The index of the node's GPU that is oddest by far; -1: none in particular."""

    @classmethod
    def joined(cls, parts: Sequence[Evidence], nodes: int) -> Evidence:
        """One after the other."""
        nothing = np.zeros((0, nodes))
        return cls(
            np.concatenate([nothing, *(one.nats for one in parts)]),
            np.concatenate([nothing.astype(np.int16), *(one.gpu for one in parts)]),
        )


class EvidenceStream:
    """Adds up scores of panels by node, slot after slot or some at once."""

    def __init__(
        self, panels: Sequence[Panel], nodes: Sequence[NodeName], settings: PatternSettings
    ) -> None:
        """Evidence begins when the first window is full: before, a job is only being met."""
        self._panels, self._settings = panels, settings
        at = {node: place for place, node in enumerate(nodes)}
        places = [np.array([at[one] for one in panel.nodes], np.intp) for panel in panels]
        self._groupings = [Grouping.of(one, len(nodes)) for one in places]
        self._places = places
        names = [[name_at_machine(metric) for metric in panel.metrics] for panel in panels]
        every = dict.fromkeys(name for of_panel in names for name in of_panel)
        line = {name: at for at, name in enumerate(every)}
        self._lines = [np.array([line[name] for name in of_panel], np.intp) for of_panel in names]
        self._shape = len(line), len(nodes)
        self._sum = np.zeros(len(nodes))
        self._cards = [np.zeros(len(panel.nodes)) for panel in panels]
        self._slots = 0

    def advance(self, scores: Sequence[Singles]) -> Evidence:
        """Take in slots of all panels, each (slots, metrics, rows)."""
        slots = len(scores[0]) if scores else 0
        ignored = np.float32(self._settings.ignored_nats)
        odd = [np.maximum(one - ignored, 0) for one in scores]
        excess = self._weighed(self._beyond_others(self._of_machines(odd, slots)))
        excess[: max(0, self._settings.window_slots - self._slots)] = 0.0
        self._slots += slots
        said = np.minimum(excess, self._settings.most_nats_a_slot)
        added = self._added_up(said - self._settings.expected_nats)
        return Evidence(added, self._oddest_cards(odd, slots))

    def _of_machines(self, odd: Sequence[Singles], slots: int) -> Singles:
        """How odd each machine is in each metric, (slots, metrics, nodes)."""
        machines = np.zeros((slots, *self._shape), np.float32)
        for rows, lines, grouping in zip(odd, self._lines, self._groupings, strict=True):
            oddest = grouping.reduced(np.maximum, rows.transpose(2, 0, 1)).transpose(1, 2, 0)
            machines[:, lines] = np.maximum(machines[:, lines], oddest)
        return machines

    def _beyond_others(self, machines: Singles) -> Singles:
        """What several other machines do not show as well."""
        others = machines.shape[2] - 1
        if others < 1:
            return np.zeros_like(machines)
        place = min(self._settings.most_odd_others, int(self._settings.most_odd_share * others))
        beyond: Singles = np.maximum(machines - leave_one_out_largest(machines, place), 0)
        return beyond

    def _weighed(self, beyond: Singles) -> Floats:
        """All metrics of a machine in one number, (slots, nodes)."""
        metrics = beyond.shape[1]
        counted = min(_MOST_METRICS, metrics) if self._settings.add_metrics else min(1, metrics)
        oddest_last = np.partition(beyond, range(metrics - counted, metrics), axis=1)
        weights = 1.0 / np.arange(1, counted + 1)
        weighed: Floats = np.einsum(
            "skn,k->sn", oddest_last[:, metrics - counted :][:, ::-1].astype(np.float64), weights
        )
        return weighed

    def _added_up(self, steps: Floats) -> Floats:
        added = np.empty_like(steps)
        for slot, step in enumerate(steps):
            self._sum = np.minimum(
                np.maximum(self._sum + step, 0.0), self._settings.most_evidence_nats
            )
            added[slot] = self._sum
        return added

    def _oddest_cards(self, odd: Sequence[Singles], slots: int) -> NDArray[np.int16]:
        gpu = np.full((slots, len(self._sum)), -1, np.int16)
        for at, panel in enumerate(self._panels):
            if panel.kind is PanelKind.GPU:
                against = odd[at].sum(axis=1)
                indices = np.array([-1 if one is None else one for one in panel.indices], np.int16)
                for slot in range(slots):
                    self._cards[at] = _FADING * self._cards[at] + against[slot]
                    gpu[slot] = _alone(self._cards[at], self._places[at], indices, gpu.shape[1])
        return gpu


def _alone(
    against: Floats, places: NDArray[np.intp], indices: NDArray[np.int16], nodes: int
) -> NDArray[np.int16]:
    """The index of the oddest GPU of each node, or -1 where others are nearly as odd."""
    order = np.lexsort((against, places))
    owner, sorted_against = places[order], against[order]
    last = np.flatnonzero(np.r_[owner[1:] != owner[:-1], True])
    has_second = (last > 0) & (owner[np.maximum(last - 1, 0)] == owner[last])
    second = np.where(has_second, sorted_against[np.maximum(last - 1, 0)], 0.0)
    is_alone = (sorted_against[last] > 0) & (second <= _ALONE_SHARE * sorted_against[last])
    found = np.full(nodes, -1, np.int16)
    found[owner[last]] = np.where(is_alone, indices[order[last]], -1)
    return found
