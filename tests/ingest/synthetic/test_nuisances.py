"""Nuisances press on little, at one place, and end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.synthetic.clusters import configured
from paramedic.ingest.synthetic.arrays import Floats
from paramedic.ingest.synthetic.causes import Causes, Influence
from paramedic.ingest.synthetic.configuration import ClusterConfig, Weather
from paramedic.ingest.synthetic.nuisances import ErrorBursts, HostRegimes, LoneXids, Wandering
from paramedic.ingest.synthetic.randomness import Dice

NODES, GPUS = 4, 2
Made = Callable[[ClusterConfig, Dice], Influence]
ALL: Sequence[Made] = (ErrorBursts, HostRegimes, LoneXids, Wandering)
BURST_CAUSES = {
    "pcie_replays_per_second": 4.1, "nvlink_errors_per_second": 10.2,
    "corrected_errors_per_second": 1.55, "symbol_errors_per_second": 10.2,
    "network_loss": 12.5, "read_slowdown": 2.7,
}  # fmt: skip
"""And the most that one burst may add to each."""
REGIME_CAUSES = {
    "stolen_cpu_ratio": (0.005, 0.025), "leaked_memory_ratio": (0.002, 0.01),
    "disk_bytes_per_second": (5.0e6, 3.5e7),
}  # fmt: skip
"""And the least and the most that one regime takes."""


def made(what: Made, seed: int = 5, /, **rates: float) -> Influence:
    weather = replace(Weather.calm(), **rates)  # type: ignore[arg-type]
    return what(replace(configured(NODES, GPUS), weather=weather), Dice(seed))


def pressed(influence: Influence, second: int) -> dict[str, dict[tuple[int, ...], float]]:
    """How far from neutral each cause is pressed, by its name and place."""
    causes, neutral = Causes.neutral(NODES, GPUS), Causes.neutral(NODES, GPUS)
    influence.press(causes, second)
    found: dict[str, dict[tuple[int, ...], float]] = {}
    for name in (one.name for one in fields(causes) if one.name != "halt"):
        by = np.asarray(getattr(causes, name), float) - getattr(neutral, name)
        if by.any():
            found[name] = {tuple(at): float(by[tuple(at)]) for at in np.argwhere(by).tolist()}
    return found


def watched(influence: Influence, cause: str, seconds: range) -> Floats:
    """How far one cause is pressed from neutral in each second; (seconds, places)."""
    causes = Causes.neutral(NODES, GPUS)
    column: Floats = getattr(causes, cause)
    usual, found = column.copy(), []
    for second in seconds:
        column[...] = usual
        influence.press(causes, second)
        found.append((column - usual).ravel())
    return np.array(found)


def lengths(pressure: Floats) -> list[int]:
    """How many rows each even pressure lasts at one place; those at either end are left out."""
    runs = [[(value, len(list(same))) for value, same in groupby(place.tolist())]
            for place in pressure.T]  # fmt: skip
    return [number for place in runs for value, number in place[1:-1] if value]


@pytest.mark.parametrize("what", ALL)
def test_a_nuisance_whose_rate_is_nothing_presses_on_nothing(what: Made) -> None:
    assert all(pressed(made(what), second) == {} for second in range(0, 900, 90))


@settings(max_examples=4)
@given(seconds=st.lists(st.integers(0, 2000), min_size=1, max_size=5))
def test_a_nuisance_is_the_same_whatever_second_was_asked_before(seconds: list[int]) -> None:
    rates = {"error_bursts_per_node_day": 900.0, "host_regimes_per_node_day": 90.0,
             "lone_xids_per_gpu_day": 900.0, "wandering_ratio": 0.03}  # fmt: skip
    for what in ALL:
        asked = made(what, **rates)
        shuffled = [pressed(asked, second) for second in seconds]
        assert shuffled == [pressed(made(what, **rates), second) for second in seconds]


def test_a_burst_raises_one_rate_at_one_place_and_never_by_much() -> None:
    bursts = made(ErrorBursts, error_bursts_per_node_day=60.0)
    seen = [pressed(bursts, second) for second in range(0, 12_000, 20)]
    found = {name for one in seen for name in one}
    assert found == set(BURST_CAUSES)
    alone = [next(iter(one.items())) for one in seen if len(one) == 1]
    assert sum(len(places) == 1 for _, places in alone) > 0.9 * len(alone)
    for name, places in alone:
        assert all(0.0 < by <= len(places) * BURST_CAUSES[name] for by in places.values())


def test_a_burst_of_a_card_is_at_one_card_and_a_burst_of_a_link_at_a_node() -> None:
    bursts = made(ErrorBursts, error_bursts_per_node_day=60.0)
    struck: dict[str, set[tuple[int, ...]]] = {}
    for second in range(0, 12_000, 20):
        for name, places in pressed(bursts, second).items():
            struck.setdefault(name, set()).update(places)
    assert {len(at) for name in ("network_loss", "symbol_errors_per_second")
            for at in struck[name]} == {1}  # fmt: skip
    for name in ("corrected_errors_per_second", "pcie_replays_per_second"):
        assert {at[1] for at in struck[name]} == {0, 1}


def test_a_burst_is_over_within_a_minute_and_more_bursts_come_of_a_higher_rate() -> None:
    rare = made(ErrorBursts, error_bursts_per_node_day=40.0)
    run = lengths(watched(rare, "network_loss", range(9000)))
    assert run
    assert 2 <= min(run) <= max(run) <= 60
    often = made(ErrorBursts, error_bursts_per_node_day=400.0)
    number = [np.count_nonzero(watched(one, "network_loss", range(0, 9000, 10)))
              for one in (rare, often)]  # fmt: skip
    assert number[0] < 0.6 * number[1]


def test_a_regime_takes_a_little_of_one_thing_of_one_host() -> None:
    regimes = made(HostRegimes, host_regimes_per_node_day=8.0)
    seen = [pressed(regimes, second) for second in range(0, 60_000, 100)]
    assert {name for one in seen for name in one} == set(REGIME_CAUSES)
    alone = [next(iter(one.items())) for one in seen if len(one) == 1]
    single = [(name, by) for name, places in alone if len(places) == 1 for by in places.values()]
    assert len(single) > 100
    for name, by in single:
        least, most = REGIME_CAUSES[name]
        assert least <= by <= 2.0 * most
    assert np.mean([by <= REGIME_CAUSES[name][1] for name, by in single]) > 0.9


@pytest.mark.parametrize("cause", REGIME_CAUSES)
def test_a_regime_lasts_minutes_and_ends(cause: str) -> None:
    regimes = made(HostRegimes, host_regimes_per_node_day=8.0)
    pressure = watched(regimes, cause, range(0, 60_000, 30))
    lasting = [30 * rows for rows in lengths(pressure)]
    assert lasting
    assert 90 <= max(lasting) <= 900 + 30
    assert (pressure == 0.0).any(axis=0).all()


def test_a_lone_code_is_one_of_the_harmless_and_gone_a_second_later() -> None:
    lone = made(LoneXids, lone_xids_per_gpu_day=200.0)
    codes = watched(lone, "xid", range(4000))
    raised = np.flatnonzero(codes.any(axis=1))
    assert set(np.unique(codes)) == {0.0, 63.0, 92.0, 154.0}
    assert codes.any(axis=0).all()
    assert len(raised) == pytest.approx(200.0 * NODES * GPUS * 4000 / 86_400, rel=0.4)
    assert all(set(pressed(lone, second)) == {"xid"} for second in raised[:9].tolist())
    assert set(lengths(codes)) == {1}


@settings(max_examples=10)
@given(second=st.integers(0, 10**6), ratio=st.floats(0.001, 0.05), seed=st.integers(0, 99))
def test_wandering_moves_cooling_and_pace_within_its_ratio(
    second: int, ratio: float, seed: int
) -> None:
    found = pressed(made(Wandering, seed, wandering_ratio=ratio), second)
    assert set(found) == {"cooling_ratio", "work_slowdown"}
    assert max(abs(by) for by in found["cooling_ratio"].values()) <= ratio + 1e-12
    assert max(abs(by) for by in found["work_slowdown"].values()) <= 0.1 * ratio + 1e-12


def test_wandering_comes_back_on_every_card_and_no_two_go_together() -> None:
    wandering = made(Wandering, wandering_ratio=0.04)
    cooling = np.array([
        list(pressed(wandering, second)["cooling_ratio"].values())
        for second in range(0, 7200, 60)
    ])  # fmt: skip
    assert (cooling.max(axis=0) > 0.03).all()
    assert (cooling.min(axis=0) < -0.03).all()
    alike = np.corrcoef(cooling.T)[np.triu_indices(NODES * GPUS, 1)]
    assert np.abs(alike).max() < 0.95
