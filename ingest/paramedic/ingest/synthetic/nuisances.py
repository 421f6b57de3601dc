"""More of what healthy clusters live through, and what looks like the beginning of a fault."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from paramedic.ingest.synthetic.causes import Causes
from paramedic.ingest.synthetic.configuration import ClusterConfig
from paramedic.ingest.synthetic.occasions import Occasions
from paramedic.ingest.synthetic.randomness import Dice, Stream

_HARMLESS_XIDS = (63, 92, 154)


class ErrorBursts:
    """A link or a memory counts errors for some seconds, and nothing comes of it."""

    def __init__(self, config: ClusterConfig, dice: Dice) -> None:
        rate = config.weather.error_bursts_per_node_day
        self._gpus = config.shape.gpus
        self._bursts = Occasions(dice, Stream.ERROR_BURST, config.shape.nodes, rate, (2, 20))

    def press(self, causes: Causes, second: int) -> None:
        """Raise one rate of one node or card."""
        for one in self._bursts.going_on(second):
            kind, strength = divmod(one.luck * len(_BURSTS), 1.0)
            _BURSTS[int(kind)](causes, one.place, one.start % self._gpus, strength)


class HostRegimes:
    """A daemon is started, a job of the owner's runs: a little more of something for minutes."""

    def __init__(self, config: ClusterConfig, dice: Dice) -> None:
        rate = config.weather.host_regimes_per_node_day
        self._regimes = Occasions(dice, Stream.HOST_REGIME, config.shape.nodes, rate, (90, 900))

    def press(self, causes: Causes, second: int) -> None:
        """Take some per cent of the processor, of memory or of the disk."""
        for one in self._regimes.going_on(second):
            kind, strength = divmod(one.luck * 3.0, 1.0)
            if kind < 1:
                causes.stolen_cpu_ratio[one.place] += 0.005 + 0.02 * strength
            elif kind < 2:
                causes.leaked_memory_ratio[one.place] += 0.002 + 0.008 * strength
            else:
                causes.disk_bytes_per_second[one.place] += 5.0e6 + 3.0e7 * strength


class LoneXids:
    """The driver raises codes that are no failure."""

    def __init__(self, config: ClusterConfig, dice: Dice) -> None:
        self._gpus = config.shape.gpus
        rate = config.weather.lone_xids_per_gpu_day
        places = config.shape.nodes * self._gpus
        self._raised = Occasions(dice, Stream.LONE_XID, places, rate, (1, 1))

    def press(self, causes: Causes, second: int) -> None:
        """Raise the code of this second."""
        for one in self._raised.going_on(second):
            code = _HARMLESS_XIDS[int(one.luck * len(_HARMLESS_XIDS))]
            causes.xid[divmod(one.place, self._gpus)] = float(code)


class Wandering:
    """No two GPUs stay alike: air, dust and data move each a little to and fro."""

    def __init__(self, config: ClusterConfig, dice: Dice) -> None:
        rng = dice.at(Stream.WANDERING, 0)
        shape = (config.shape.nodes, config.shape.gpus)
        self._ratio = config.weather.wandering_ratio
        self._turns_per_second = 1.0 / np.exp(rng.uniform(np.log(150.0), np.log(2400.0), shape))
        self._phase = rng.uniform(0.0, 2 * np.pi, shape)

    def press(self, causes: Causes, second: int) -> None:
        """Cool a little better or worse, and work a little faster or slower."""
        if self._ratio == 0.0:
            return
        swing = np.sin(2 * np.pi * self._turns_per_second * second + self._phase)
        causes.cooling_ratio *= 1.0 + self._ratio * swing
        causes.work_slowdown *= 1.0 + 0.1 * self._ratio * swing[:, ::-1]


def _replays(causes: Causes, node: int, gpu: int, strength: float) -> None:
    causes.pcie_replays_per_second[node, gpu] += 0.1 + 4.0 * strength**2


def _checksums(causes: Causes, node: int, gpu: int, strength: float) -> None:
    causes.nvlink_errors_per_second[node, gpu] += 0.2 + 10.0 * strength**2


def _corrections(causes: Causes, node: int, gpu: int, strength: float) -> None:
    causes.corrected_errors_per_second[node, gpu] += 0.05 + 1.5 * strength**2


def _symbols(causes: Causes, node: int, _gpu: int, strength: float) -> None:
    causes.symbol_errors_per_second[node] += 0.2 + 10.0 * strength**2


def _losses(causes: Causes, node: int, _gpu: int, strength: float) -> None:
    causes.network_loss[node] += 0.5 + 12.0 * strength**2


def _reads(causes: Causes, node: int, _gpu: int, strength: float) -> None:
    causes.read_slowdown[node] *= 1.2 + 2.5 * strength


_BURSTS: tuple[Callable[[Causes, int, int, float], None], ...] = (
    _replays, _checksums, _corrections, _symbols, _losses, _reads,
)  # fmt: skip
