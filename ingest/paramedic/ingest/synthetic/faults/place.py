"""Where a fault sits in the arrays of causes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from paramedic.ingest.contract import NodeName
from paramedic.ingest.synthetic.errors import UnknownFaultError
from paramedic.ingest.synthetic.faults.plan import FaultPlan
from paramedic.ingest.synthetic.layout import Layout

Cards: TypeAlias = tuple[int | list[int], int | slice]
"""Index of a fault's cards in arrays of (nodes, gpus); its first part is the index of its nodes."""


@dataclass(frozen=True, slots=True)
class Place:
    """The nodes and the card, as indices."""

    nodes: tuple[int, ...]
    gpu: int | None

    @property
    def cards(self) -> Cards:
        """The card, or all cards of the nodes."""
        nodes = self.nodes[0] if len(self.nodes) == 1 else list(self.nodes)
        return nodes, slice(None) if self.gpu is None else self.gpu


def place_of(plan: FaultPlan, layout: Layout, is_group: bool) -> Place:
    """Find the plan's place. Raises UnknownFaultError where there is none of that name."""
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
    node = layout.nodes.index(plan.node)
    if not is_group:
        return Place((node,), plan.gpu)
    behind = np.flatnonzero(layout.switch == layout.switch[node])
    return Place(tuple(behind.tolist()), plan.gpu)


def nodes_of(plan: FaultPlan, layout: Layout, is_group: bool) -> tuple[NodeName, ...]:
    """Names of everybody whom the fault strikes."""
    return tuple(layout.nodes[n] for n in place_of(plan, layout, is_group).nodes)
