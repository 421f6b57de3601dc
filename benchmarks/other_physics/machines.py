"""Machines and cards as they are: each steadily a little different from the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from benchmarks.other_physics.job import Floats, Job

_RUNNING_WARM_CELSIUS = 86.0
_CLOCK_LOST_PER_DEGREE = 0.04
_LOWEST_CLOCK = 0.35


@dataclass(frozen=True, slots=True)
class Machines:
    """Steady differences: of the ranks first, then of the nodes."""

    speed: Floats
    power: Floats
    boost: Floats
    celsius_per_watt: Floats
    seconds_to_warm: Floats
    memory: Floats
    air_celsius: Floats
    """Per node."""
    host: Floats
    """How much more than usual a host has to do; per node."""
    disk: Floats
    network: Floats


def draw_machines(dice: np.random.Generator, job: Job) -> Machines:
    """A few per cent between cards; some hosts differ by ten, and seldom one is slow."""
    ranks, nodes = job.ranks, job.nodes
    odd = np.where(dice.random(nodes) < 0.06, dice.choice([-0.1, 0.1], nodes), 0.0)
    rise = dice.uniform(28.0, 42.0) / job.card.limit_watts
    # The air is warm already when it reaches the cards behind.
    place = np.tile(1.0 + dice.normal(0.0, 0.06, job.gpus), nodes)
    slower = np.where(dice.random(nodes) < 0.1 / np.sqrt(nodes), dice.uniform(0.95, 0.98), 1.0)
    return Machines(
        speed=(1.0 - np.abs(dice.normal(0.0, 0.007, ranks))) * np.repeat(slower, job.gpus),
        power=(1.0 + dice.normal(0.0, 0.02, ranks)) * (1.0 + np.repeat(0.6 * odd, job.gpus)),
        boost=1.0 - np.abs(dice.normal(0.0, 0.006, ranks)),
        celsius_per_watt=rise * place * (1.0 + dice.normal(0.0, 0.05, ranks)),
        seconds_to_warm=dice.uniform(18.0, 45.0, ranks),
        memory=1.0 + dice.normal(0.0, 0.004, ranks),
        air_celsius=dice.uniform(24.0, 32.0) + dice.normal(0.0, 1.3, nodes),
        host=(1.0 + dice.normal(0.0, 0.05, nodes)) * (1.0 + 2.0 * np.abs(odd)),
        disk=np.exp(dice.normal(0.0, 0.15, nodes)),
        network=np.exp(dice.normal(0.0, 0.12, nodes)),
    )


def throttled(celsius: Floats) -> Floats:
    """The share of its clock that a card keeps at a temperature."""
    above = np.maximum(celsius - _RUNNING_WARM_CELSIUS, 0.0)
    return np.maximum(1.0 - _CLOCK_LOST_PER_DEGREE * above, _LOWEST_CLOCK)


class Warmth:
    """The temperature of every card: heat flows in with the power and out to the air."""

    def __init__(self, machines: Machines, gpus: int, watts: Floats) -> None:
        """`watts`: what the cards have been drawing before."""
        self._machines = machines
        self._air = np.repeat(machines.air_celsius, gpus)
        self.celsius = self._air + machines.celsius_per_watt * watts

    def pass_time(self, seconds: float, watts: Floats, heat: Floats) -> Floats:
        """The temperatures after so many seconds at this power."""
        target = self._air + self._machines.celsius_per_watt * watts * (1.0 + heat)
        kept = np.exp(-seconds / self._machines.seconds_to_warm)
        self.celsius = target + (self.celsius - target) * kept
        return self.celsius
