"""What the figure of a verdict shows: whose curves, of which metrics, over which time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Scope, Verdict
from paramedic.diagnosis.explanation.curves import PRESENCE, Curve, Whose
from paramedic.diagnosis.explanation.words import place_of
from paramedic.ingest.some_names import some_names

if TYPE_CHECKING:
    from paramedic.ingest.contract import NodeName

MOST_PANELS = 4
_CONTEXT = (
    "heartbeat",
    "gpu_tensor_active_ratio",
    "gpu_utilization_ratio",
    "gpu_power_watts",
    "step_seconds",
    "cpu_utilization_ratio",
)
"""Shown where the evidence itself is no curve, such as an Xid."""
_FEWEST_MATES = 3
"""Fewer peers of the same stage are no band: then everybody is."""
_SHORTEST_BEFORE, _LONGEST_BEFORE = 60.0, 600.0
_SHORTEST_AFTER, _LONGEST_AFTER = 20.0, 120.0
_SAMPLES_BEFORE, _SAMPLES_AFTER = 8, 4


@dataclass(frozen=True, slots=True)
class Scene:
    """The words and moments of a figure."""

    title: str
    machine: str
    """What its line is called."""
    peers: str
    """What those of the band are called."""
    began: datetime | None
    """When evidence began."""
    decided: datetime | None


@dataclass(frozen=True, slots=True)
class Depiction:
    """A figure that is to be drawn."""

    scene: Scene
    whose: Whose
    evidence: tuple[str, ...]
    """Metrics, the most telling first."""
    seconds: range

    @property
    def metrics(self) -> tuple[str, ...]:
        """Everything that has to be read."""
        return tuple(dict.fromkeys((*self.evidence, *_CONTEXT)))

    def chosen(self, curves: list[Curve]) -> list[Curve]:
        """The curves that are shown: of the evidence; where that is no amount, others beside."""
        telling = [curve for curve in curves if curve.metric in self.evidence]
        has_amount = any(curve.metric not in PRESENCE for curve in telling)
        return (telling if has_amount else curves)[:MOST_PANELS]


def depiction_of(
    verdict: Verdict, stages: Mapping[NodeName, int | None], cadence_seconds: float
) -> Depiction:
    """The figure of a verdict; `stages` is the pipeline stage of each node, where one is known."""
    nodes = frozenset(verdict.members if verdict.node is None else (verdict.node,))
    mates = _stage_mates(nodes, stages)
    decided = verdict.first_detected_at or verdict.detected_at
    whose = Whose(nodes, verdict.gpu, verdict.rank, mates)
    peers = "peers" if mates is None else "peers of the same stage"
    peers = peers if nodes else "members of the job"
    accusation = verdict.summary.rpartition("; it was: ")[2]
    title = f"{verdict.severity.value} {verdict.fault.value}: {accusation}"
    scene = Scene(title, _machine(verdict), peers, verdict.onset, decided)
    span = _span(verdict.onset.timestamp(), decided.timestamp(), cadence_seconds)
    return Depiction(scene, whose, _metrics(verdict), span)


def _metrics(verdict: Verdict) -> tuple[str, ...]:
    """The one that leads, then the strongest."""
    lead, rest = verdict.evidence[:1], verdict.evidence[1:]
    strongest = sorted(rest, key=lambda one: -abs(one.deviation))
    return tuple(dict.fromkeys(one.metric for one in (*lead, *strongest)))


def _machine(verdict: Verdict) -> str:
    match verdict.scope:
        case Scope.GROUP:
            return f"median of {some_names(verdict.members)}"
        case Scope.NODE if verdict.rank is not None:
            return f"{verdict.node} (rank {verdict.rank})"
        case _:
            return place_of(verdict)


def _stage_mates(
    nodes: frozenset[NodeName], stages: Mapping[NodeName, int | None]
) -> frozenset[NodeName] | None:
    """The nodes of the same pipeline stage; None where that is not known, or they are too few."""
    own = {stages.get(node) for node in nodes}
    if len(own) != 1 or None in own:
        return None
    mates = frozenset(node for node, stage in stages.items() if stage in own and node not in nodes)
    return mates if len(mates) >= _FEWEST_MATES else None


def _span(began: float, decided: float, cadence_seconds: float) -> range:
    """From well before the evidence to a little after the decision."""
    lasted = max(decided - began, 0.0)
    before = max(_SHORTEST_BEFORE, 1.5 * lasted, _SAMPLES_BEFORE * cadence_seconds)
    after = max(_SHORTEST_AFTER, 0.5 * lasted, _SAMPLES_AFTER * cadence_seconds)
    first = began - min(before, max(_LONGEST_BEFORE, _SAMPLES_BEFORE * cadence_seconds))
    last = decided + min(after, max(_LONGEST_AFTER, _SAMPLES_AFTER * cadence_seconds))
    return range(int(first), int(last) + 1)
