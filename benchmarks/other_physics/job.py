"""A training job: its machines, how its ranks are laid out, and what one step asks of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
_MICRO_BATCH_SECONDS = 1.5
"""A fault reaches the job's speed at the next micro-batch, so none lasts much longer."""


class Layout(StrEnum):
    """How the model is spread over the ranks."""

    DATA = "data"
    TENSOR = "tensor"
    """The GPUs of a node share every layer; nodes hold copies."""
    PIPELINE = "pipeline"
    """Groups of nodes hold a stage each; the GPUs of a node share its layers."""
    EXPERT = "expert"
    """Data-parallel with experts, whose load differs from step to step."""


@dataclass(frozen=True, slots=True)
class Card:
    """A kind of GPU, with what its node offers."""

    name: str
    limit_watts: float
    idle_watts: float
    clock_hertz: float
    memory_bytes: float
    nvlink_bytes_per_second: float
    nic_bytes_per_second: float
    """Of one GPU's share of the network."""
    pcie_bytes_per_second: float


CARDS = (
    Card("A100", 400.0, 58.0, 1.410e9, 80e9, 240e9, 24e9, 24e9),
    Card("H100", 700.0, 72.0, 1.980e9, 80e9, 360e9, 48e9, 52e9),
    Card("H800", 700.0, 70.0, 1.830e9, 80e9, 160e9, 48e9, 50e9),
    Card("L40S", 350.0, 36.0, 2.520e9, 48e9, 0.0, 12e9, 24e9),
)


@dataclass(frozen=True, slots=True)
class Job:
    """What does not change while the job runs. Shares are of the step that nothing disturbs."""

    name: str
    layout: Layout
    card: Card
    nodes: int
    gpus: int
    stages: int
    step_seconds: float
    micro_batches: int
    load_share: float
    """What the host needs to prepare a step's data; it is hidden behind the step before."""
    transfer_share: float
    """Copying between host and GPU, which nothing hides."""
    tensor_share: float
    """Collectives between the GPUs of a node that share a layer."""
    data_share: float
    """The gradients' way between the copies."""
    optimizer_share: float
    jitter: float
    """Relative spread of a micro-batch's work from one to the next."""
    intensity: float
    """Tensor cores' activity while computing."""
    is_ring: bool
    """In a ring all go at the pace of the slowest link; else the others are done and wait."""
    spins: bool
    """Who waits in a collective keeps its GPU busy; else it waits on the host."""
    stage_work: tuple[float, ...]
    nodes_a_switch: int

    @property
    def ranks(self) -> int:
        """One a GPU."""
        return self.nodes * self.gpus

    @property
    def shape(self) -> tuple[int, int, int]:
        """Stages, copies, and ranks that share a layer: ranks in order of nodes fill it."""
        shared = self.gpus if self.layout in (Layout.TENSOR, Layout.PIPELINE) else 1
        return self.stages, self.ranks // (self.stages * shared), shared

    @property
    def compute_share(self) -> float:
        """What is left of a step for computing."""
        rest = self.tensor_share + self.data_share + self.optimizer_share + self.transfer_share
        return 1.0 - rest

    def node_of(self, rank: int) -> int:
        """Ranks are numbered from node to node."""
        return rank // self.gpus

    def ranks_of(self, node: int) -> Indices:
        """The ranks of a node."""
        return np.arange(node * self.gpus, (node + 1) * self.gpus)

    def switch_of(self, node: int) -> int:
        """The leaf switch that a node hangs on."""
        return node // self.nodes_a_switch

    def stage_of(self, node: int) -> int:
        """The pipeline stage that a node works on."""
        return node * self.stages // self.nodes


def draw_job(dice: np.random.Generator, fewest: int = 2, most: int = 128) -> Job:
    """Some job with so many nodes; small ones are more frequent."""
    nodes = round(float(np.exp(dice.uniform(np.log(fewest), np.log(most + 0.49)))))
    card = CARDS[dice.choice(len(CARDS), p=[0.3, 0.4, 0.2, 0.1])]
    layout = _layout(dice, card, nodes)
    gpus = _gpus(dice, layout)
    stages = _stages(dice, nodes) if layout is Layout.PIPELINE else 1
    nodes -= nodes % stages
    shortest = 2.0 if nodes * gpus > 128 else 0.5
    step = float(np.exp(dice.uniform(np.log(shortest), np.log(30.0))))
    fewest_micro = 2 * stages if stages > 1 else 1
    is_shared = layout in (Layout.TENSOR, Layout.PIPELINE)
    return Job(
        name=f"{card.name.lower()}-{layout.value}-{nodes}x{gpus}",
        layout=layout,
        card=card,
        nodes=nodes,
        gpus=gpus,
        stages=stages,
        step_seconds=max(step, 0.3 * fewest_micro),
        micro_batches=max(fewest_micro, int(np.ceil(step / _MICRO_BATCH_SECONDS))),
        load_share=float(dice.uniform(0.25, 0.6)),
        transfer_share=float(dice.uniform(0.02, 0.08)),
        tensor_share=float(dice.uniform(0.08, 0.2)) if is_shared else 0.0,
        data_share=float(dice.uniform(0.1, 0.3)),
        optimizer_share=float(dice.uniform(0.02, 0.08)),
        jitter=_jitter(dice, layout),
        intensity=float(dice.uniform(0.35, 0.75)),
        is_ring=bool(dice.random() < 0.5),
        spins=bool(dice.random() < 0.85),
        stage_work=_stage_work(dice, stages),
        nodes_a_switch=int(dice.choice([4, 8, 16])) if nodes >= 16 else max(3, nodes // 3),
    )


def _layout(dice: np.random.Generator, card: Card, nodes: int) -> Layout:
    if card.nvlink_bytes_per_second == 0.0:
        return Layout.DATA
    likely = [0.25, 0.25, 0.3, 0.2] if nodes >= 4 else [0.5, 0.3, 0.0, 0.2]
    return list(Layout)[dice.choice(4, p=likely)]


def _gpus(dice: np.random.Generator, layout: Layout) -> int:
    if layout in (Layout.TENSOR, Layout.PIPELINE):
        return int(dice.choice([4, 8], p=[0.2, 0.8]))
    return int(dice.choice([1, 2, 4, 8], p=[0.1, 0.1, 0.2, 0.6]))


def _stages(dice: np.random.Generator, nodes: int) -> int:
    return int(dice.choice([stages for stages in (2, 4, 8) if nodes // stages >= 2]))


def _jitter(dice: np.random.Generator, layout: Layout) -> float:
    """Experts are asked for unevenly; and some jobs have sequences of very different lengths."""
    if layout is Layout.EXPERT or dice.random() < 0.15:
        return float(dice.uniform(0.05, 0.14))
    return float(dice.uniform(0.004, 0.03))


def _stage_work(dice: np.random.Generator, stages: int) -> tuple[float, ...]:
    """The first stage embeds, the last one has the loss: they weigh something else."""
    work = dice.uniform(0.85, 1.0, stages)
    work[-1] = dice.uniform(0.9, 1.1)
    return tuple(float(one) for one in work)
