"""What kind of thing a metric measures, by the catalogue's properties or else by its name.

Models speak of kinds, so that a metric nobody trained on is read as its like are.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache

from paramedic.ingest.catalogue.catalogue import shipped_catalogue
from paramedic.ingest.catalogue.metric import Kind, Metric

MEAN_OF_NODE = "node_mean_of:"
"""In front of a metric of GPUs or ranks: its mean over those of a node."""
ABSENCE = "absence_of:"
"""In front of an entity: for how long a row has not been seen."""


class Family(StrEnum):
    """How the values of a metric are to be read."""

    SHARE = "share"
    """Between 0 and 1."""
    FLOW = "flow"
    """Bytes or joules a second."""
    TIME = "time"
    """Seconds that something takes."""
    SIZE = "size"
    """Any other level: watts, degrees, hertz, bytes."""
    COUNT = "count"
    """Events a second, often none."""
    GROWTH = "growth"
    """A running total; what it grows by in a slot counts."""
    STATE = "state"
    """A code or a flag; it is like the peers' or it is not."""
    ABSENCE = "absence"


FAMILIES = tuple(Family)
_ENDINGS = (
    ("_bytes_per_second", Family.FLOW),
    ("_watts", Family.SIZE),
    ("_per_second", Family.COUNT),
    ("_total", Family.GROWTH),
    ("_ratio", Family.SHARE),
    ("_seconds", Family.TIME),
)
OF_THE_JOB = frozenset((
    "step", "heartbeat", "step_seconds", "samples_per_second", "loss", "gradient_norm",
    "learning_rate", "global_batch_size",
))  # fmt: skip
"""What ranks tell of the job as a whole is the same for all: where two differ, one was read a
moment later. It says nothing of a machine, and much of clocks."""
_FLOWS = ("byte per second", "joule per second", "sample per second")


def name_at_machine(metric: str) -> str:
    """What a machine is called odd in: a metric of a card, and the node's mean of it, are one.

    >>> name_at_machine("node_mean_of:gpu_power_watts"), name_at_machine("absence_of:gpus_of_node")
    ('gpu_power_watts', 'absence_of:gpu')
    """
    return metric.removeprefix(MEAN_OF_NODE).removesuffix("s_of_node")


@cache
def family_of(metric: str) -> Family:
    """The family of a canonical id, of a node's mean of one, or of an absence.

    >>> family_of("gpu_power_watts"), family_of("node_mean_of:something_ratio")
    (<Family.SIZE: 'size'>, <Family.SHARE: 'share'>)
    """
    if metric.startswith(ABSENCE):
        return Family.ABSENCE
    name = metric.removeprefix(MEAN_OF_NODE)
    known = shipped_catalogue().metrics.get(name)
    if known is not None:
        return _catalogued(known)
    return next((family for end, family in _ENDINGS if name.endswith(end)), Family.SIZE)


def _catalogued(metric: Metric) -> Family:
    if metric.kind is Kind.STATE:
        return Family.STATE
    if metric.unit == "ratio":
        return Family.SHARE
    if metric.unit in _FLOWS:
        return Family.FLOW
    if metric.kind is Kind.COUNTER:
        return Family.COUNT if metric.id.endswith("_per_second") else Family.GROWTH
    return Family.TIME if metric.unit == "second" else Family.SIZE
