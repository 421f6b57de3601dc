"""How the cluster is seen: sensors that glitch, scrapes that are lost, clocks that are off."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from paramedic.ingest.synthetic.arrays import Floats
from paramedic.ingest.synthetic.causes import Causes
from paramedic.ingest.synthetic.configuration import ClusterConfig
from paramedic.ingest.synthetic.occasions import Occasion, Occasions
from paramedic.ingest.synthetic.randomness import Dice, Stream
from paramedic.ingest.synthetic.reading import Sight, Spike

_FP64_BLANK = 2.0**47
_TOO_HOT_CELSIUS = 200_000.0
_SLEEPING_CLOCK_HERTZ = 345.0e6
_LATEST_SECONDS = 6.0


class Observation:
    """What of the physics reaches a reader."""

    def __init__(self, config: ClusterConfig, dice: Dice) -> None:
        seen, shape = config.observation, config.shape
        self._config = seen
        self._gpus = shape.gpus
        self._dice = dice
        self._glitches = Occasions(
            dice, Stream.GLITCH, shape.nodes * shape.gpus, seen.glitches_per_gpu_day, (1, 2)
        )
        self._lost = Occasions(
            dice, Stream.LOST_SCRAPE, 2 * shape.nodes, seen.lost_scrapes_per_node_day / 2.0, (1, 3)
        )
        self._restarts = Occasions(
            dice, Stream.EXPORTER_RESTART, shape.nodes, seen.exporter_restarts_per_node_day, (6, 25)
        )
        self._offsets = self._draw_offsets(shape.nodes)

    def sight(self, causes: Causes, second: int) -> Sight:
        """Who can be seen. A restart takes the GPU exporter away; a lost scrape one page of two."""
        gpu_page, node_page = causes.is_seen.copy(), causes.is_seen.copy()
        for one in self._restarts.going_on(second):
            gpu_page[one.place] = False
        for one in self._lost.going_on(second):
            (gpu_page, node_page)[one.place % 2][one.place // 2] = False
        return Sight(gpu_page, node_page, causes.is_seen, self._offsets)

    def glitched(
        self, readings: Mapping[str, Floats], second: int
    ) -> tuple[Mapping[str, Floats], tuple[Spike, ...]]:
        """The readings with this second's glitches, and what is printed where they are NaN."""
        going_on = self._glitches.going_on(second)
        if not going_on:
            return readings, ()
        changed = {metric: column.copy() for metric, column in readings.items()}
        spikes = [self._glitch(one, changed) for one in going_on]
        return changed, tuple(spike for spike in spikes if spike is not None)

    def arrival_seconds(self, second: int) -> Floats:
        """How long after the second each node's samples arrive; (nodes,)."""
        nodes = len(self._offsets)
        rng = self._dice.at(Stream.ARRIVAL, second)
        usual = self._config.arrival_seconds * np.exp(0.3 * rng.standard_normal(nodes))
        is_late = rng.uniform(size=nodes) < self._config.late_ratio
        return usual + is_late * rng.uniform(1.0, _LATEST_SECONDS, nodes)

    def _glitch(self, one: Occasion, readings: dict[str, Floats]) -> Spike | None:
        node, gpu = divmod(one.place, self._gpus)
        glitch = _GLITCHES[int(one.luck * len(_GLITCHES))]
        return glitch(readings, node, gpu)

    def _draw_offsets(self, nodes: int) -> Floats:
        rng = self._dice.at(Stream.CLOCKS, 0)
        offsets = self._config.clock_offset_seconds * rng.standard_normal(nodes)
        wrong = rng.permutation(nodes)[: self._config.wrong_clock_nodes]
        offsets[wrong] += self._config.wrong_clock_seconds * rng.choice((-1.0, 1.0), len(wrong))
        return offsets


def _spike(metric: str, printed: float) -> Callable[[dict[str, Floats], int, int], Spike]:
    def glitch(readings: dict[str, Floats], node: int, gpu: int) -> Spike:
        readings[metric][node, gpu] = np.nan
        return Spike(metric, node, gpu, printed)

    return glitch


def _cold(readings: dict[str, Floats], node: int, gpu: int) -> None:
    """A sensor that misreads within its range: nothing tells it from the truth but its peers."""
    readings["gpu_temperature_celsius"][node, gpu] -= 18.0


def _sleepy(readings: dict[str, Floats], node: int, gpu: int) -> None:
    readings["gpu_sm_clock_hertz"][node, gpu] = _SLEEPING_CLOCK_HERTZ


_GLITCHES: tuple[Callable[[dict[str, Floats], int, int], Spike | None], ...] = (
    _spike("gpu_temperature_celsius", _TOO_HOT_CELSIUS),
    _spike("gpu_power_watts", _FP64_BLANK),
    _spike("gpu_utilization_ratio", 4_294_967_295.0),
    _cold,
    _sleepy,
)
