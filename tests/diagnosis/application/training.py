"""A training that tells of its steps, a step a second, and what the application tier says to it."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from diagnosis.synthetic import JOB, START, node_name
from paramedic.diagnosis.application.settings import ApplicationSettings
from paramedic.diagnosis.application.watch import ApplicationWatch
from paramedic.diagnosis.contract import Fault, Status, Verdict
from paramedic.diagnosis.docket import Docket
from paramedic.diagnosis.picture import JobPicture
from paramedic.ingest.contract import Entity, EntityKey, Event, Window

Row = Mapping[str, float]
Change = Callable[[int], Row]
RANKS = 4
_ROWS = tuple(EntityKey(Entity.RANK, node_name(rank), rank) for rank in range(RANKS))


def healthy_row(step: int, rng: np.random.Generator, noise: float = 0.02) -> dict[str, float]:
    """What a training tells that is well: it learns, its rate has warmed up."""
    loss = (1.9 + 9.0 / math.sqrt(1.0 + step / 40.0)) * math.exp(noise * rng.standard_normal())
    seconds = 0.5 * math.exp(0.03 * rng.standard_normal())
    return {
        "step": float(step),
        "loss": loss,
        "gradient_norm": 0.3 * math.exp(0.1 * rng.standard_normal()),
        "learning_rate": 3e-4 * min(1.0, (step + 1) / 40),
        "global_batch_size": 512.0,
        "step_seconds": seconds,
        "dataloader_seconds": 0.02 * seconds,
        "samples_per_second": 128 / seconds,
    }


@dataclass
class Training:
    """Plays rows to the watch; everything that was said stays in `said`."""

    settings: ApplicationSettings = field(default_factory=ApplicationSettings)
    generation: int = 0

    def __post_init__(self) -> None:
        self.watch = ApplicationWatch(self.settings)
        self.docket = Docket(JOB)
        self.picture = JobPicture()
        self.said: list[Verdict] = []
        self.second = START

    def tell(self, row: Row, ranks: Sequence[Row] | None = None) -> list[Verdict]:
        """One slot, of all ranks alike unless each has its own row."""
        rows = ranks or [row] * RANKS
        metrics = tuple(rows[0])
        values = np.array([[[own[metric]] for metric in metrics] for own in rows])
        window = Window(
            JOB, self.generation, Entity.RANK, self.second, _ROWS[: len(rows)], metrics, values,
            ~np.isnan(values),
        )  # fmt: skip
        self.picture.see(self.second, self.generation)
        said = list(self.watch.look(window, self.picture, self.docket))
        self.second += 1
        self.said += said
        return said

    def go_on(self, steps: Iterable[int], change: Change = lambda _: {}, seed: int = 0) -> None:
        """Healthy steps with what differs in each."""
        rng = np.random.default_rng(seed)
        for step in steps:
            self.tell({**healthy_row(step, rng), **change(step)})

    def hear(self, event: Event) -> list[Verdict]:
        self.picture.record(event)
        said = list(self.watch.hear(event, self.picture, self.docket))
        self.said += said
        return said

    def resumed(self) -> Training:
        """Another that knows what this one knows."""
        return copy.deepcopy(self)

    def firing(self) -> list[Fault]:
        return [one.fault for one in self.said if one.status is Status.FIRING]

    def only(self) -> Verdict:
        (verdict,) = [one for one in self.said if one.status is Status.FIRING]
        return verdict
