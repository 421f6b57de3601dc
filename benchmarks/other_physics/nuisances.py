"""What happens in a healthy cluster and is nobody's fault."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from benchmarks.other_physics.influences import (
    Course,
    Happening,
    Influence,
    Knob,
    Mark,
    Mode,
    Push,
)
from benchmarks.other_physics.job import Job
from benchmarks.other_physics.sketch import GPU_ROWS, NODE_ROWS
from benchmarks.other_physics.steps import Pause, PauseKind

Paused = Sequence[tuple[float, float, PauseKind]]
"""When pauses really were, and of which kind."""


@dataclass(frozen=True, slots=True)
class ClockStep:
    """From a moment on, a node's clock says something else."""

    node: int
    at: float
    seconds: float


@dataclass(slots=True)
class Nuisances:
    """All nuisances of an episode."""

    job: Job
    dice: np.random.Generator
    seconds: int
    influence: Influence = field(default_factory=Influence)
    pauses: list[Pause] = field(default_factory=list)
    announced: set[PauseKind] = field(default_factory=set)
    """Pauses of which the job tells."""
    clock_steps: list[ClockStep] = field(default_factory=list)
    renamed: dict[int, float] = field(default_factory=dict)
    """Nodes in whose place another stands from a moment on."""
    names: list[str] = field(default_factory=list)

    def some_time(self) -> float:
        """Some moment, not at the very edges."""
        return float(self.dice.uniform(60.0, self.seconds - 60.0))

    def some_node(self) -> int:
        """Some machine."""
        return int(self.dice.integers(self.job.nodes))


Nuisance = Callable[[Nuisances], None]


def checkpoints(case: Nuisances) -> None:
    """All ranks write their state every few minutes."""
    every, lasts = case.dice.uniform(180.0, 420.0), case.dice.uniform(4.0, 40.0)
    first = float(case.dice.uniform(40.0, every))
    for at in np.arange(first, case.seconds, every):
        case.pauses.append(Pause(float(at), float(lasts), PauseKind.CHECKPOINT))
    if case.dice.random() < 0.6:
        case.announced.add(PauseKind.CHECKPOINT)


def evaluation(case: Nuisances) -> None:
    """The model is tried out: forward only, without collectives."""
    lasts = float(case.dice.uniform(15.0, 60.0))
    case.pauses.append(Pause(case.some_time(), lasts, PauseKind.EVALUATION))
    if case.dice.random() < 0.6:
        case.announced.add(PauseKind.EVALUATION)


def start_up(case: Nuisances) -> None:
    """The recording begins before the job does."""
    case.pauses.append(Pause(0.0, float(case.dice.uniform(15.0, 70.0)), PauseKind.START))
    case.announced.add(PauseKind.START)


def data_stall(case: Nuisances) -> None:
    """Nobody gets data for a while."""
    for _ in range(case.dice.integers(1, 4)):
        lasts = float(case.dice.uniform(5.0, 25.0))
        case.pauses.append(Pause(case.some_time(), lasts, PauseKind.DATA_STALL))


def congestion(case: Nuisances) -> None:
    """The whole fabric is slow for a few minutes."""
    begin = case.some_time()
    course = Course(begin, begin + case.dice.uniform(40.0, 240.0), 5.0)
    everybody, nodes = np.arange(case.job.ranks), np.arange(case.job.nodes)
    case.influence.pushes.append(Push(Knob.NIC, everybody, case.dice.uniform(0.4, 0.8), course))
    for metric in ("pfc_tx", "ecn", "cnp"):
        size = case.dice.uniform(2.0, 6.0)
        name = f"{metric}_packets_per_second"
        case.influence.marks.append(Mark(name, nodes, Mode.SCALE, size, course))
    trip = Mark("network_round_trip_seconds", nodes, Mode.SCALE, 2.0, course)
    case.influence.marks.append(trip)


def scheduled_work(case: Nuisances) -> None:
    """A cron job takes processor or disk on one node after the other."""
    begin, apart = case.some_time(), case.dice.uniform(5.0, 60.0)
    lasts = case.dice.uniform(30.0, 180.0)
    is_disk = case.dice.random() < 0.5
    order = case.dice.permutation(case.job.nodes)
    for place, node in enumerate(order[:12]):
        course = Course(begin + place * apart, begin + place * apart + lasts, 3.0)
        rows = np.array([node])
        for metric, mode, size in _scheduled(is_disk, case.dice):
            case.influence.marks.append(Mark(metric, rows, mode, size, course))


def _scheduled(is_disk: bool, dice: np.random.Generator) -> list[tuple[str, Mode, float]]:
    if is_disk:
        return [
            ("disk_throughput_bytes_per_second", Mode.SCALE, dice.uniform(2.0, 5.0)),
            ("disk_read_latency_seconds", Mode.SCALE, dice.uniform(1.3, 2.5)),
        ]
    return [
        ("cpu_utilization_ratio", Mode.ADD, dice.uniform(0.04, 0.15)),
        ("context_switches_per_second", Mode.SCALE, dice.uniform(1.1, 1.4)),
    ]


def glitches(case: Nuisances) -> None:
    """Single readings that cannot be."""
    for _ in range(case.dice.integers(1, 6)):
        at, rank = case.some_time(), np.array([case.dice.integers(case.job.ranks)])
        course = Course(at, at + case.dice.uniform(1.0, 3.0))
        metric, size = [
            ("gpu_power_watts", 0.0),
            ("gpu_utilization_ratio", 0.0),
            ("gpu_temperature_celsius", 0.0),
            ("gpu_sm_clock_hertz", 0.345e9),
        ][case.dice.integers(4)]
        case.influence.marks.append(Mark(metric, rank, Mode.SET, size, course))


def hole(case: Nuisances) -> None:
    """A node's telemetry is away for a while."""
    begin, node = case.some_time(), case.some_node()
    _away(case, node, Course(begin, begin + case.dice.uniform(8.0, 45.0)))


def exporter_restart(case: Nuisances) -> None:
    """An exporter starts anew: rows are missing, and running totals begin at zero."""
    begin, node = case.some_time(), case.some_node()
    back = begin + case.dice.uniform(10.0, 60.0)
    _away(case, node, Course(begin, back))
    since = Course(back, np.inf)
    ranks = case.job.ranks_of(node)
    for metric in ("gpu_ecc_correctable_total", "gpu_ecc_uncorrectable_total"):
        case.influence.marks.append(Mark(metric, ranks, Mode.RESET, 0.0, since))


def _away(case: Nuisances, node: int, course: Course) -> None:
    what = case.dice.choice(["gpu", "host", "both"])
    if what != "host":
        ranks = case.job.ranks_of(node)
        case.influence.marks.append(Mark(GPU_ROWS, ranks, Mode.ABSENT, 0.0, course))
    if what != "gpu":
        nodes = np.array([node])
        case.influence.marks.append(Mark(NODE_ROWS, nodes, Mode.ABSENT, 0.0, course))


def clock_step(case: Nuisances) -> None:
    """A node's clock is set."""
    seconds = float(case.dice.choice([-1.0, 1.0]) * case.dice.uniform(1.0, 4.0))
    case.clock_steps.append(ClockStep(case.some_node(), case.some_time(), seconds))


def resize(case: Nuisances) -> None:
    """A machine leaves and another takes its place."""
    at, node = case.some_time(), case.some_node()
    case.pauses.append(Pause(at, float(case.dice.uniform(20.0, 60.0)), PauseKind.RESIZE))
    case.announced.add(PauseKind.RESIZE)
    case.renamed[node] = at


def correctable_errors(case: Nuisances) -> None:
    """Now and then a bit is corrected, which means nothing."""
    for _ in range(case.dice.integers(1, 4)):
        at, rank = case.some_time(), np.array([case.dice.integers(case.job.ranks)])
        mark = Mark("gpu_ecc_correctable_total", rank, Mode.ADD, 1.0, Course(at, np.inf))
        case.influence.marks.append(mark)


def hiccups(case: Nuisances) -> None:
    """Somebody collects garbage or compiles a kernel, and all wait for a moment."""
    for _ in range(case.dice.integers(2, 12)):
        at, rank = case.some_time(), np.array([case.dice.integers(case.job.ranks)])
        course = Course(at, at + case.dice.uniform(0.5, 3.0))
        case.influence.pushes.append(Push(Knob.STALL, rank, case.dice.uniform(0.3, 2.0), course))


def passing_loss(case: Nuisances) -> None:
    """A few packets are lost on a node for some seconds, and nothing comes of it."""
    for _ in range(case.dice.integers(1, 4)):
        at, node = case.some_time(), np.array([case.some_node()])
        course = Course(at, at + case.dice.uniform(3.0, 15.0))
        size = case.dice.uniform(1.0, 6.0)
        mark = Mark("tcp_retransmits_per_second", node, Mode.COUNT, size, course)
        case.influence.marks.append(mark)


LIKELY: tuple[tuple[Nuisance, float, float], ...] = (
    (checkpoints, 0.75, 0.5),
    (evaluation, 0.4, 0.15),
    (start_up, 0.25, 0.15),
    (data_stall, 0.35, 0.1),
    (congestion, 0.4, 0.1),
    (scheduled_work, 0.5, 0.25),
    (glitches, 0.6, 0.4),
    (hole, 0.4, 0.15),
    (exporter_restart, 0.3, 0.1),
    (clock_step, 0.2, 0.05),
    (resize, 0.15, 0.0),
    (correctable_errors, 0.3, 0.15),
    (hiccups, 0.5, 0.4),
    (passing_loss, 0.4, 0.2),
)
"""Each with its chance in a healthy episode and in one with a fault."""


def draw_nuisances(
    dice: np.random.Generator, job: Job, seconds: int, is_healthy: bool
) -> Nuisances:
    """Some of them; more where nothing else happens."""
    case = Nuisances(job, dice, seconds)
    for nuisance, healthy, beside_fault in LIKELY:
        if dice.random() < (healthy if is_healthy else beside_fault):
            nuisance(case)
            case.names.append(nuisance.__name__)
    return case


def saving(case: Nuisances, paused: Paused) -> list[Mark]:
    """What writing a checkpoint does to the disks: on all nodes, or on those that write."""
    writers = np.arange(case.job.nodes)
    if case.dice.random() < 0.5:
        writers = writers[: max(1, case.job.nodes // 4)]
    rate = case.dice.uniform(5e8, 3e9)
    marks = []
    for begin, end, kind in paused:
        if kind is PauseKind.CHECKPOINT:
            course = Course(begin, end)
            for metric, mode, size in (
                ("disk_throughput_bytes_per_second", Mode.ADD, rate),
                ("disk_write_latency_seconds", Mode.SCALE, 3.0),
                ("cpu_utilization_ratio", Mode.ADD, 0.08),
            ):
                marks.append(Mark(metric, writers, mode, size, course))
    return marks


def happenings(case: Nuisances, paused: Paused) -> list[Happening]:
    """What the job itself tells of its pauses."""
    told = []
    for begin, end, kind in paused:
        if kind in case.announced:
            told.append(Happening(begin, "job_state", details={"state": _STATES[kind]}))
            told.append(Happening(end, "job_state", details={"state": "training"}))
            if kind is PauseKind.CHECKPOINT:
                told.append(Happening(end, "checkpoint", details={"result": "saved"}))
    return told


_STATES = {
    PauseKind.START: "starting",
    PauseKind.CHECKPOINT: "checkpointing",
    PauseKind.EVALUATION: "evaluating",
    PauseKind.RESIZE: "resizing",
}
