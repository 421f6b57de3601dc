"""Which faults there are, how often they strike, and whether they end in a halt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from benchmarks.other_physics import card_faults as cards
from benchmarks.other_physics import host_faults as hosts
from benchmarks.other_physics.influences import Influence
from benchmarks.other_physics.job import Indices, Job
from benchmarks.other_physics.sketch import Sketch

Mechanism = Callable[[Sketch], None]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of fault, with its mechanisms."""

    name: str
    weight: float
    halts: float
    """How often it stops the job in the end."""
    silent: float
    """How often such an end comes without any symptom."""
    mechanisms: tuple[Mechanism, ...]


KINDS = (
    Kind("ecc_error", 3.0, 0.6, 0.05, (cards.correctable_storm, cards.page_retirement)),
    Kind("cuda_execution_error", 1.5, 0.7, 0.1, (cards.illegal_access, cards.launch_overhead)),
    Kind(
        "gpu_execution_error",
        1.5,
        0.3,
        0.0,
        (cards.stuck_clock, cards.lost_tensor_path, cards.power_brake),
    ),
    Kind("pcie_downgrade", 1.5, 0.1, 0.0, (cards.lost_lanes, cards.replaying_bus)),
    Kind("nic_dropout", 1.2, 0.5, 0.1, (hosts.port_down, hosts.packet_loss)),
    Kind("gpu_card_drop", 1.0, 1.0, 0.25, (cards.card_falls_off,)),
    Kind("nvlink_error", 1.0, 0.5, 0.05, (cards.nvlink_replays, cards.nvlink_lanes)),
    Kind("aoc_error", 1.2, 0.3, 0.0, (hosts.flapping_optics, hosts.dirty_optics)),
    Kind("storage_error", 1.2, 0.2, 0.0, (hosts.slow_disk, hosts.storage_timeouts)),
    Kind("machine_unreachable", 1.2, 1.0, 0.4, (hosts.goes_silent, hosts.vanishes)),
    Kind("thermal_throttle", 1.2, 0.0, 0.0, (cards.failing_fan, cards.dried_paste)),
    Kind("host_contention", 1.2, 0.0, 0.0, (hosts.stolen_processor,)),
    Kind("process_exit", 1.0, 1.0, 0.4, (hosts.leaking_memory, hosts.process_dies)),
    Kind("hang", 1.0, 1.0, 0.4, (hosts.deadlock, hosts.busy_loop, hosts.stuck_kernel)),
    Kind("straggler", 1.5, 0.0, 0.0, (hosts.slow_host, hosts.slow_card)),
    Kind("telemetry_lost", 0.5, 0.0, 0.0, (hosts.dead_exporters,)),
)
GROUP = Kind("network_group", 1.0, 0.2, 0.0, (hosts.sick_switch,))
_WITHOUT_SYMPTOMS = frozenset(
    {hosts.vanishes, hosts.process_dies, hosts.deadlock, hosts.stuck_kernel}
)
_SYMPTOM_SECONDS = (30.0, 200.0)
_SHORTEST_SECONDS = 150.0
"""Of a fault that passes by itself."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault as it strikes. Times are seconds since the start."""

    kind: str
    mechanism: str
    size: str
    nodes: tuple[int, ...]
    gpu: int | None
    onset: float
    halted_at: float | None
    end: float | None
    is_group: bool
    stopped: Indices
    """Ranks that do nothing after the halt."""
    influence: Influence


@dataclass(frozen=True, slots=True)
class Timing:
    """What of a fault's times is already settled."""

    onset: float
    seconds: float
    """Length of the recording."""
    may_halt: bool = True
    must_halt: bool = False


def draw_fault(
    dice: np.random.Generator, job: Job, nodes: Sequence[int], timing: Timing, kind: Kind
) -> Fault:
    """A fault of this kind on these nodes."""
    halts = timing.may_halt and (timing.must_halt or dice.random() < kind.halts)
    mechanism = kind.mechanisms[dice.integers(len(kind.mechanisms))]
    is_silent = halts and (mechanism in _WITHOUT_SYMPTOMS or dice.random() < kind.silent)
    lead = 0.0 if is_silent else float(dice.uniform(*_SYMPTOM_SECONDS))
    halt = timing.onset + lead if halts else None
    passes = not halts and dice.random() < 0.4
    end = timing.onset + float(dice.uniform(_SHORTEST_SECONDS, 500.0)) if passes else np.inf
    case = Sketch(job, dice, nodes, timing.onset, min(end, timing.seconds + 1.0), halt)
    mechanism(case)
    return Fault(
        kind=kind.name,
        mechanism=mechanism.__name__,
        size=", ".join(case.sizes),
        nodes=tuple(nodes),
        gpu=case.gpu,
        onset=timing.onset,
        halted_at=halt,
        end=end if end < timing.seconds else None,
        is_group=kind is GROUP,
        stopped=case.ranks,
        influence=case.influence,
    )


def draw_kind(dice: np.random.Generator, job: Job, halting: bool | None = None) -> Kind:
    """Some kind that this job can have; `halting`: only such as end, or need not end, so."""
    fit = [
        kind
        for kind in KINDS
        if _fits(kind, job)
        and (halting is None or (kind.halts > 0.0 if halting else kind.halts < 1.0))
    ]
    weights = np.array([kind.weight for kind in fit])
    return fit[dice.choice(len(fit), p=weights / weights.sum())]


def _fits(kind: Kind, job: Job) -> bool:
    """Links between cards matter where something goes over them."""
    return kind.name != "nvlink_error" or job.tensor_share > 0.0
