"""What healthy clusters live through presses on causes, at its places and for its time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ingest.synthetic.clusters import configured
from paramedic.ingest.synthetic.causes import Causes, Influence
from paramedic.ingest.synthetic.configuration import Weather
from paramedic.ingest.synthetic.individuals import draw_individuals
from paramedic.ingest.synthetic.layout import Layout
from paramedic.ingest.synthetic.randomness import Dice
from paramedic.ingest.synthetic.weather import (
    Air,
    BusyHosts,
    Congestion,
    Cron,
    DataStalls,
    Mishaps,
)

DICE = Dice(2)
OFTEN = 20_000.0


def influences(weather: Weather) -> dict[str, Influence]:
    config = replace(configured(), weather=weather)
    layout = Layout(config.shape, DICE)
    return {
        "cron": Cron(config, draw_individuals(config, layout, DICE)),
        "busy": BusyHosts(config, DICE),
        "congestion": Congestion(config, layout, DICE),
        "stalls": DataStalls(config, DICE),
        "mishaps": Mishaps(config),
    }


def causes_over(influence: Influence, seconds: int = 120) -> list[Causes]:
    lived = []
    for second in range(seconds):
        causes = Causes.neutral(4, 4)
        influence.press(causes, second)
        lived.append(causes)
    return lived


def test_calm_weather_presses_on_nothing() -> None:
    for influence in influences(Weather.calm()).values():
        for causes in causes_over(influence, 6):
            for name in Causes.__slots__:
                neutral = getattr(Causes.neutral(4, 4), name)
                assert np.array_equal(getattr(causes, name), neutral), name


def test_cron_runs_on_every_host_at_its_own_moment_for_its_seconds() -> None:
    cron = influences(Weather(cron_every_seconds=60, cron_seconds=7))["cron"]
    busy = np.array([causes.stolen_cpu_ratio > 0 for causes in causes_over(cron)])
    assert busy.sum(axis=0).tolist() == [14] * 4
    starts = {int(np.argmax(~busy[:-1, n] & busy[1:, n])) for n in range(4)}
    assert len(starts) > 1


def test_a_busy_host_is_one_host_and_its_disk() -> None:
    busy = influences(replace(Weather.calm(), host_busy_per_node_day=800.0))["busy"]
    for causes in causes_over(busy):
        taken = causes.stolen_cpu_ratio > 0
        assert np.array_equal(taken, causes.disk_bytes_per_second > 0)
        assert (causes.stolen_cpu_ratio[taken] >= 0.08).all()


def test_congestion_takes_bandwidth_and_loses_segments_together() -> None:
    everywhere = influences(replace(Weather.calm(), congestion_per_day=OFTEN))["congestion"]
    crowded = [causes for causes in causes_over(everywhere) if causes.fabric_ratio.min() < 1.0]
    assert crowded
    for causes in crowded:
        assert np.ptp(causes.fabric_ratio) == 0.0
        assert causes.network_loss.min() > 0.3
        assert causes.fabric_ratio.min() > 0.0


def test_a_crowded_switch_hurts_only_those_behind_it() -> None:
    at_switch = influences(replace(Weather.calm(), congestion_per_switch_day=600.0))["congestion"]
    lonely = [
        causes.fabric_ratio for causes in causes_over(at_switch, 400) if np.ptp(causes.fabric_ratio)
    ]
    assert lonely
    assert all(ratio[0] == ratio[1] and ratio[2] == ratio[3] for ratio in lonely)


def test_a_data_stall_makes_one_node_load_longer() -> None:
    stalls = influences(replace(Weather.calm(), data_stalls_per_node_day=OFTEN))["stalls"]
    longest = max(causes.loading_seconds.max() for causes in causes_over(stalls))
    assert longest > 0.3


def test_mishaps_are_rates_that_a_day_makes_whole() -> None:
    weather = replace(Weather.calm(), corrected_errors_per_gpu_day=86.4, replays_per_gpu_day=864.0)
    (causes,) = causes_over(influences(weather)["mishaps"], 1)
    assert causes.corrected_errors_per_second == pytest.approx(np.full((4, 4), 0.001))
    assert causes.pcie_replays_per_second == pytest.approx(np.full((4, 4), 0.01))


def test_air_swings_slowly_and_racks_not_together() -> None:
    layout = Layout(replace(configured().shape, nodes=8, nodes_per_rack=4), DICE)
    air = []
    for second in range(0, 1500, 25):
        causes = Causes.neutral(8, 4)
        Air(layout).press(causes, second)
        air.append(causes.ambient_celsius)
    swing = np.array(air)
    assert np.abs(swing).max() < 1.0
    assert np.abs(np.diff(swing, axis=0)).max() < 0.1
    assert np.array_equal(swing[:, 0], swing[:, 3])
    assert np.abs(swing[:, 0] - swing[:, 4]).max() > 0.5
