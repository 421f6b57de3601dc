"""The faults by name, and how a plan becomes an influence. A new fault is a function and a row.

A fault changes causes (`Causes`) and nothing else; what is seen of it follows from the physics.
What is broken is told beside the telemetry, in labels, and never in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from paramedic.ingest.contract import format_time
from paramedic.ingest.synthetic.causes import Causes
from paramedic.ingest.synthetic.errors import UnknownFaultError
from paramedic.ingest.synthetic.faults.plan import FaultPlan
from paramedic.ingest.synthetic.faults.tensor_loss import tensor_loss
from paramedic.ingest.synthetic.layout import Layout


@dataclass(frozen=True, slots=True)
class Place:
    """Where a fault sits, as indices into the causes."""

    node: int
    gpu: int | None

    @property
    def cards(self) -> tuple[int, int | slice]:
        """The card, or all cards of the node."""
        return self.node, slice(None) if self.gpu is None else self.gpu


Effect = Callable[[Causes, tuple[int, int | slice], float, int], None]
"""Presses on the causes of the cards, given the strength and the seconds since the onset."""


@dataclass(frozen=True, slots=True)
class FaultKind:
    """One row of the catalogue."""

    summary: str
    effect: Effect


FAULTS: Mapping[str, FaultKind] = {
    "tensor_loss": FaultKind(
        "a share of the matrix work falls off the tensor cores (strength: which share)",
        tensor_loss,
    ),
}


class PlannedFault:
    """A fault of the plan at its place, from its onset to its end."""

    def __init__(self, plan: FaultPlan, layout: Layout) -> None:
        self._plan = plan
        self._kind = _kind_of(plan)
        self._place = _place_of(plan, layout)

    def press(self, causes: Causes, second: int) -> None:
        """Have the effect, when it is time."""
        age = second - self._plan.onset
        if age >= 0 and (self._plan.end is None or second < self._plan.end):
            self._kind.effect(causes, self._place.cards, self._plan.strength, age)


def label_of(plan: FaultPlan, first_second: int) -> Mapping[str, str | int | float | None]:
    """What a label file says of the fault: kind, place, RFC 3339 times, strength."""
    return {
        "kind": plan.kind,
        "node": plan.node,
        "gpu": plan.gpu,
        "onset": _time(first_second + plan.onset),
        "end": None if plan.end is None else _time(first_second + plan.end),
        "strength": plan.strength,
    }


def labels_of(plans: Sequence[FaultPlan], first_second: int) -> Mapping[str, object]:
    """The whole label file."""
    return {"schema": 1, "faults": [label_of(plan, first_second) for plan in plans]}


def _time(second: int) -> str:
    return format_time(datetime.fromtimestamp(second, UTC))


def _kind_of(plan: FaultPlan) -> FaultKind:
    if plan.kind not in FAULTS:
        raise UnknownFaultError(f"fault {plan.kind!r}: known are {', '.join(sorted(FAULTS))}")
    if not 0.0 < plan.strength <= 1.0:
        raise UnknownFaultError(
            f"fault {plan.kind}: strength = {plan.strength}: must be above 0 and at most 1"
        )
    return FAULTS[plan.kind]


def _place_of(plan: FaultPlan, layout: Layout) -> Place:
    if plan.node not in layout.nodes:
        raise UnknownFaultError(
            f"fault {plan.kind}: node {plan.node!r}: nodes are {layout.nodes[0]} to"
            f" {layout.nodes[-1]}"
        )
    gpus = layout.shape.gpus
    if plan.gpu is not None and not 0 <= plan.gpu < gpus:
        raise UnknownFaultError(
            f"fault {plan.kind}: GPU {plan.gpu} of {plan.node}: GPUs are 0 to {gpus - 1}"
        )
    return Place(layout.nodes.index(plan.node), plan.gpu)
