"""A tiny world for the benchmark's tests: one metric, which rises where something is broken."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from paramedic.diagnosis.benchmark.episodes import Drawn, Episode, Facts, Fault, Part
from paramedic.ingest.contract import Entity, EntityKey, JobName, NodeName, Window
from paramedic.models.detection import Alarm
from paramedic.models.history import JobHistory

BEGIN = 1_000_000
NODES = tuple(NodeName(f"node-{n}") for n in range(4))


def fault(*nodes: int, at: int = 50, kind: str = "ecc_error", **others: object) -> Fault:
    """A fault of these nodes; `at` counts from the beginning."""
    names = tuple(NODES[n] for n in nodes)
    return Fault(kind, names, BEGIN + at, **others)  # type: ignore[arg-type]


def facts(*faults: Fault, name: str = "test-0", part: Part = Part.TEST, **others: object) -> Facts:
    """An episode of 1000 seconds with these faults."""
    job = JobName(f"job-of-{name}")
    return Facts(name, job, part, len(NODES), BEGIN, 1000, faults=faults, **others)  # type: ignore[arg-type]


def alarm(at: int, *nodes: int, family: str | None = None) -> Alarm:
    """An alarm about these nodes, `at` seconds after the beginning."""
    return Alarm(BEGIN + at, tuple(NODES[n] for n in nodes), 1.0, family=family)


def history(faults: Sequence[Fault] = (), seconds: int = 200, seed: int = 0) -> JobHistory:
    """Values around 0, and around 1 where something is broken."""
    noise = np.random.default_rng(seed).uniform(0.0, 0.3, (len(NODES), 1, seconds))
    for one in faults:
        for node in one.nodes:
            noise[NODES.index(node), 0, one.onset - BEGIN :] += 1.0
    rows = tuple(EntityKey(Entity.NODE, node) for node in NODES)
    values = noise.astype(np.float32)
    window = Window(
        JobName("job"), 0, Entity.NODE, BEGIN, rows, ("load_average",), values,
        np.ones(values.shape, dtype=np.bool_),
    )  # fmt: skip
    return JobHistory(JobName("job"), {Entity.NODE: window})


@dataclass(frozen=True)
class StagedSource:
    """Every other episode is healthy."""

    per_part: int = 4

    def draw(self, part: Part) -> Sequence[Drawn]:
        return [Drawn(f"{part}-{n}", part, n) for n in range(self.per_part)]

    def live(self, drawn: Drawn) -> Episode:
        assert isinstance(drawn.plan, int)
        faults = (fault(drawn.plan % len(NODES)),) if drawn.plan % 2 else ()
        known = facts(*faults, name=drawn.name, part=drawn.part)
        return Episode(known, history(faults, seed=drawn.plan))


@dataclass(frozen=True)
class Exceedances:
    """The first second in which each node is above the threshold."""

    history: JobHistory

    def alarms(self, threshold: float) -> Sequence[Alarm]:
        window = self.history.windows[Entity.NODE]
        above = window.values[:, 0, :] > threshold
        first = {row.node: int(above[n].argmax()) for n, row in enumerate(window.rows)}
        some = [node for n, node in enumerate(NODES) if above[n].any()]
        alarms = (Alarm(BEGIN + first[node], (node,), 1.0) for node in some)
        return sorted(alarms, key=lambda one: one.second)


@dataclass
class Seeing:
    """Sees everything that a threshold of 0.5 can see; with 0.1 it sees ghosts."""

    name: str = "paramedic"
    thresholds: Sequence[float] = (0.1, 0.5, 9.0)
    learned_from: list[int] = field(default_factory=list)

    def train(self, histories: Iterable[JobHistory]) -> None:
        self.learned_from.append(len(list(histories)))

    def examine(self, history: JobHistory) -> Exceedances:
        return Exceedances(history)


class Fatal(Seeing):
    """Ends its process, as the kernel does when memory is short."""

    def examine(self, history: JobHistory) -> Exceedances:
        os.kill(os.getpid(), signal.SIGKILL)
        return super().examine(history)


class Stubborn(Seeing):
    """Never comes back from a faulty test episode, and answers no SIGTERM."""

    def examine(self, history: JobHistory) -> Exceedances:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while float(history.windows[Entity.NODE].values.max()) > 1.0:
            signal.pause()
        return super().examine(history)


def silent(name: str = "minder") -> Seeing:
    """A detector that never says anything."""
    return Seeing(name, thresholds=(9.0, 99.0))


@dataclass
class Heard:
    """Keeps what progress was told."""

    stages: list[tuple[str, int]] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)

    def stage(self, words: str, total: int) -> None:
        self.stages.append((words, total))

    def advance(self, words: str) -> None:
        self.steps.append(words)
