"""What was told lately of the GPUs and nodes of one job, place by place."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from paramedic.diagnosis.known_errors.gauge import XidGauge
from paramedic.diagnosis.known_errors.report import Place, Report

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paramedic.ingest.contract import NodeName


@dataclass(slots=True)
class KnownErrorMemory:
    """The reports that count; everything a detector keeps of known errors."""

    _reports: dict[NodeName, dict[Place, dict[str, Report]]] = field(default_factory=dict)
    gauge: XidGauge = field(default_factory=XidGauge)
    _growths: dict[tuple[Place, str], float] = field(default_factory=dict)

    def add(self, report: Report) -> bool:
        """Keep a report; whether that is news. Of one code, the newest report is kept."""
        told = self._reports.setdefault(report.place.node, {}).setdefault(report.place, {})
        before = told.get(report.label)
        if before is None:
            told[report.label] = report
            return True
        if before.is_held and report.is_held and before.value == report.value:
            return False
        newest = max(before, report, key=lambda one: (one.at, one.gravity))
        told[report.label] = replace(newest, first=min(before.first, report.first))
        return True

    def grow(self, place: Place, metric: str, growth: float) -> float:
        """How far a counter has grown since it was quiet."""
        whole = self._growths.get((place, metric), 0.0) + growth
        self._growths[place, metric] = whole
        return whole

    def places(self, node: NodeName) -> Mapping[Place, Mapping[str, Report]]:
        """What was told of a node and its GPUs."""
        return self._reports.get(node, {})

    def has_told(self, report: Report) -> bool:
        """Whether the same was told of this place lately, in whatever way."""
        return report.label in self.places(report.place.node).get(report.place, {})

    def nodes(self) -> tuple[NodeName, ...]:
        """Of whom something was told."""
        return tuple(self._reports)

    def held(self) -> dict[Place, set[str]]:
        """The states that last, by place and metric."""
        found: dict[Place, set[str]] = {}
        for places in self._reports.values():
            for place, told in places.items():
                if metrics := {one.metric for one in told.values() if one.is_held}:
                    found[place] = metrics
        return found

    def drop(self, place: Place, label: str) -> bool:
        """Let go of one report; whether it was there."""
        told = self._reports.get(place.node, {}).get(place, {})
        return told.pop(label, None) is not None

    def drop_older(self, node: NodeName, second: float) -> None:
        """Let go of what was told last before this second, states that last aside."""
        for place, told in list(self._reports.get(node, {}).items()):
            for label, report in list(told.items()):
                if not report.is_held and report.at.timestamp() < second:
                    del told[label]
                    self._growths.pop((place, report.metric), None)
            if not told:
                del self._reports[node][place]
        if not self._reports.get(node):
            self.forget(node)

    def forget_gpu(self, place: Place) -> None:
        """Let go of what was told of one GPU: it is there again."""
        self._reports.get(place.node, {}).pop(place, None)

    def forget(self, node: NodeName) -> None:
        """Let go of everything that was told of a node."""
        self._reports.pop(node, None)
        for place, metric in [key for key in self._growths if key[0].node == node]:
            del self._growths[place, metric]
