"""What an episode is, before it has been lived, and what was broken in it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from paramedic.ingest.contract import NodeName
from paramedic.ingest.synthetic.configuration import ClusterConfig
from paramedic.ingest.synthetic.faults.catalogue import kind_of
from paramedic.ingest.synthetic.faults.instance import completed
from paramedic.ingest.synthetic.faults.place import nodes_of
from paramedic.ingest.synthetic.faults.plan import FaultPlan, Loudness
from paramedic.ingest.synthetic.layout import Layout

__all__ = ["EpisodePlan", "FaultLabel", "Loudness", "Split", "label_of"]


class Split(StrEnum):
    """What an episode may be used for; no job is in two of them."""

    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"


@dataclass(frozen=True, slots=True)
class FaultLabel:
    """The truth about one fault. Seconds are Unix seconds, UTC."""

    kind: str
    """A machine's or group's fault, as verdicts name them."""
    nodes: tuple[NodeName, ...]
    gpu: int | None
    """None: the whole node."""
    onset: int
    end: int | None
    halted_at: int | None
    """When the ranks gave up waiting and the job ended, for good or to be started again; until then
    there was somebody to be named. None: it never came to that."""
    loudness: Loudness
    is_group: bool
    stopped_at: int | None = None
    """When the machine stopped and the waiting began."""
    effects: tuple[str, ...] = ()
    """What the fault did, by name."""


@dataclass(frozen=True, slots=True)
class EpisodePlan:
    """One stretch of one job: small, picklable; everything about the episode follows from it."""

    name: str
    split: Split
    cluster: ClusterConfig
    first: int
    """The first second that is seen, counted from the job's start."""
    seconds: int
    missing_share: float = 0.0
    """How much is not there: of the metrics for the whole episode in some episodes, of the samples
    in others; which, the seed decides."""


def label_of(plan: FaultPlan, cluster: ClusterConfig, layout: Layout) -> FaultLabel:
    """The label of one of the cluster's faults."""
    whole, is_group, start = completed(plan), kind_of(plan.kind).is_group, cluster.first_second
    stop = whole.stop
    return FaultLabel(
        kind=plan.kind,
        nodes=nodes_of(plan, layout, is_group),
        gpu=plan.gpu,
        onset=start + whole.onset,
        end=None if whole.end is None else start + whole.end,
        halted_at=None if stop is None else start + stop.aborts_at,
        loudness=whole.loudness,
        is_group=is_group,
        stopped_at=None if stop is None else start + stop.at,
        effects=tuple(one.effect for one in whole.symptoms),
    )
