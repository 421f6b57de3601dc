"""What healthy clusters live through: cron jobs, busy hosts, congestion, data stalls."""

from __future__ import annotations

import numpy as np

from paramedic.ingest.synthetic.causes import Causes
from paramedic.ingest.synthetic.configuration import ClusterConfig
from paramedic.ingest.synthetic.individuals import Individuals
from paramedic.ingest.synthetic.layout import Layout
from paramedic.ingest.synthetic.occasions import Occasions
from paramedic.ingest.synthetic.randomness import Dice, Stream

_AIR_PERIOD_SECONDS = 1500.0
_AIR_SWING_CELSIUS = 0.7
_DAY_SECONDS = 86_400.0


class Cron:
    """A small job on every host, at a minute of its own choosing."""

    def __init__(self, config: ClusterConfig, individuals: Individuals) -> None:
        self._every = config.weather.cron_every_seconds
        self._seconds = config.weather.cron_seconds
        self._phase = individuals.cron_phase_seconds

    def press(self, causes: Causes, second: int) -> None:
        """Take a few per cent of the processor, and write a log."""
        if self._every == 0:
            return
        runs = (second + self._phase) % self._every < self._seconds
        causes.stolen_cpu_ratio[runs] += 0.06
        causes.disk_bytes_per_second[runs] += 4.0e7


class BusyHosts:
    """Somebody logs in, a backup runs, an agent updates itself: one host is busier for a while."""

    def __init__(self, config: ClusterConfig, dice: Dice) -> None:
        rate = config.weather.host_busy_per_node_day
        self._busy = Occasions(dice, Stream.HOST_BUSY, config.shape.nodes, rate, (5, 90))

    def press(self, causes: Causes, second: int) -> None:
        """Take up to a third of the processor."""
        for one in self._busy.going_on(second):
            causes.stolen_cpu_ratio[one.place] += 0.08 + 0.25 * one.luck
            causes.disk_bytes_per_second[one.place] += 3.0e8 * one.luck


class Congestion:
    """The fabric is slow for everybody, or one leaf switch is."""

    def __init__(self, config: ClusterConfig, layout: Layout, dice: Dice) -> None:
        weather = config.weather
        self._switch_of = layout.switch
        self._everywhere = Occasions(
            dice, Stream.CONGESTION, 1, weather.congestion_per_day, (4, 45)
        )
        self._at_switch = Occasions(
            dice, Stream.SWITCH_CONGESTION, layout.switches,
            weather.congestion_per_switch_day, (4, 40),
        )  # fmt: skip

    def press(self, causes: Causes, second: int) -> None:
        """Leave less bandwidth, and lose a few segments."""
        for one in self._everywhere.going_on(second):
            causes.fabric_ratio *= 0.9 - 0.4 * one.luck
            causes.network_loss += 3.0 * one.luck
        for one in self._at_switch.going_on(second):
            here = self._switch_of == one.place
            causes.fabric_ratio[here] *= 0.9 - 0.4 * one.luck
            causes.network_loss[here] += 6.0 * one.luck


class DataStalls:
    """A node's input pipeline runs dry for some seconds; everybody waits for its batch."""

    def __init__(self, config: ClusterConfig, dice: Dice) -> None:
        rate = config.weather.data_stalls_per_node_day
        self._stalls = Occasions(dice, Stream.DATA_STALL, config.shape.nodes, rate, (2, 10))

    def press(self, causes: Causes, second: int) -> None:
        """Make loading longer."""
        for one in self._stalls.going_on(second):
            causes.loading_seconds[one.place] += 0.3 + 2.0 * one.luck


class Air:
    """Cooling swings slowly, each rack in its own rhythm."""

    def __init__(self, layout: Layout) -> None:
        self._phase = layout.rack * 2.4

    def press(self, causes: Causes, second: int) -> None:
        """Warm or cool the air a little."""
        turn = 2 * np.pi * second / _AIR_PERIOD_SECONDS
        causes.ambient_celsius += _AIR_SWING_CELSIUS * np.sin(turn + self._phase)


class Mishaps:
    """Corrected memory errors and link replays that mean nothing."""

    def __init__(self, config: ClusterConfig) -> None:
        self._corrected = config.weather.corrected_errors_per_gpu_day / _DAY_SECONDS
        self._replays = config.weather.replays_per_gpu_day / _DAY_SECONDS

    def press(self, causes: Causes, second: int) -> None:
        """Raise the rates that errors are drawn from."""
        del second
        causes.corrected_errors_per_second += self._corrected
        causes.pcie_replays_per_second += self._replays
