"""A difference has to matter, however surely it is one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from diagnosis.synthetic import JOB
from paramedic.diagnosis.departure import Departure
from paramedic.diagnosis.materiality import is_material, is_past, lost_seconds
from paramedic.ingest.contract import Entity, EntityKey, NodeName, Window

METRICS = (
    "gpu_power_watts",
    "gpu_tensor_active_ratio",
    "gpu_pcie_replays_per_second",
    "cpu_utilization_ratio",
)
POWER, TENSOR, REPLAYS, CPU = METRICS
ROWS = tuple(EntityKey(Entity.GPU, NodeName(f"n{at}"), 0) for at in range(5))


def window(share: float, peers: float = 400.0) -> Window:
    values = np.full((len(ROWS), len(METRICS), 20), peers, np.float32)
    values[0] *= share
    return Window(JOB, 0, Entity.GPU, 0, ROWS, METRICS, values, np.ones(values.shape, np.bool_))


def departure(*loud: str, weights: Mapping[str, float] | None = None) -> Departure:
    """Each of the loud metrics says as much, unless weights are given."""
    told, said = dict.fromkeys(loud, -9.0), weights or {one: 1 / len(loud) for one in loud}
    return Departure(ROWS[0], 0, ROWS[:1], 10, 19, 30.0, 20.0, told, loud, said)


@pytest.mark.parametrize(
    ("share", "matters"), [(0.96, False), (0.94, True), (1.1, False), (1.2, True)]
)
def test_less_work_matters_soon_and_more_of_it_when_it_cannot_be_the_same(
    share: float, *, matters: bool
) -> None:
    assert is_material(window(share), departure(*METRICS[:2])) is matters


@pytest.mark.parametrize(("peers", "matters"), [(0.02, False), (0.2, True)])
def test_a_unit_that_hardly_works_may_differ_by_a_large_share(
    peers: float, *, matters: bool
) -> None:
    assert is_material(window(0.8, peers=peers), departure(TENSOR)) is matters


@pytest.mark.parametrize(("said", "matters"), [(0.3, False), (0.8, True)])
def test_a_metric_that_says_little_does_not_tell_what_is_lost(
    said: float, *, matters: bool
) -> None:
    seen = window(0.99)
    seen.values[0, METRICS.index(TENSOR)] = 300.0
    weights = {POWER: 1 / (1 + said), TENSOR: said / (1 + said)}
    assert is_material(seen, departure(POWER, TENSOR, weights=weights)) is matters


@pytest.mark.parametrize(("width", "matters"), [(1, True), (15, False)])
def test_where_samples_are_seconds_apart_a_difference_has_to_be_one_lately_too(
    width: int, *, matters: bool
) -> None:
    seen = replace(window(0.5), slot_seconds=width)
    seen.values[0, :, -2:] = 400.0
    since = replace(departure(*METRICS[:2]), since=0, second=19 * width)
    assert is_material(seen, since) is matters


@pytest.mark.parametrize(("at_work", "matters"), [(1.0, False), (0.9, True)])
def test_of_clocks_those_at_work_are_compared_too_since_who_waits_clocks_up(
    at_work: float, *, matters: bool
) -> None:
    values = np.full((len(ROWS), 1, 20), 1.1e9, np.float32)
    values[1:, 0, ::2] = 1.3e9
    values[0] *= at_work
    clock = "gpu_sm_clock_hertz"
    seen = Window(JOB, 0, Entity.GPU, 0, ROWS, (clock,), values, np.ones(values.shape, np.bool_))
    assert is_material(seen, departure(clock)) is matters


def test_machines_are_compared_in_the_slots_in_which_both_are_heard() -> None:
    """All work in bursts, and most of this one's samples are lost: by chance those of no burst."""
    seen = window(1.0)
    seen.values[:, :, ::4] *= 3.0
    observed = seen.observed.copy()
    observed[0, :, ::4] = False
    assert not is_material(replace(seen, observed=observed), departure(*METRICS[:2]))


@pytest.mark.parametrize(("share", "matters"), [(1.09, False), (1.5, True)])
def test_of_congestion_a_little_more_is_nobodys_problem(share: float, *, matters: bool) -> None:
    values = np.full((len(ROWS), 1, 20), 7.0, np.float32)
    values[0] *= share
    marked = "ecn_packets_per_second"
    seen = Window(JOB, 0, Entity.NODE, 0, ROWS, (marked,), values, np.ones(values.shape, np.bool_))
    assert is_material(seen, departure(marked)) is matters


def since(seconds: int, *loud: str) -> Departure:
    return replace(departure(*loud), since=20 - seconds, second=19)


def ended(slots_ago: int) -> Window:
    """The machine has lost half of its work until so long ago."""
    seen = window(0.5)
    seen.values[0, :, len(seen.seconds) - slots_ago :] = 400.0
    return seen


@pytest.mark.parametrize(("slots_ago", "is_over"), [(0, False), (2, False), (3, True)])
def test_what_is_not_to_be_seen_for_seconds_is_past(slots_ago: int, *, is_over: bool) -> None:
    assert is_past(ended(slots_ago), since(15, POWER, TENSOR), 3.0) is is_over


def test_of_what_is_past_in_one_metric_only_something_is_still_there() -> None:
    seen = ended(5)
    seen.values[0, METRICS.index(TENSOR)] = 200.0
    assert not is_past(seen, since(15, POWER, TENSOR), 3.0)


def test_what_has_hardly_begun_and_what_comes_one_by_one_is_not_past() -> None:
    assert not is_past(ended(5), since(5, POWER, TENSOR), 3.0)
    assert not is_past(ended(5), since(15, REPLAYS), 3.0)


def test_who_is_not_heard_lately_is_not_seen_to_go_on() -> None:
    seen = window(0.5)
    observed = seen.observed.copy()
    observed[0, :, -3:] = False
    assert is_past(replace(seen, observed=observed), since(15, POWER), 3.0)


def test_errors_matter_as_they_are() -> None:
    assert is_material(window(0.99), departure(METRICS[0], METRICS[2]))
    assert is_material(window(0.99), departure())


@pytest.mark.parametrize(("errors", "matters"), [(0.08, False), (0.12, True)])
def test_errors_have_to_say_some_of_it_to_matter_as_they_are(
    errors: float, *, matters: bool
) -> None:
    said = {POWER: 1 - errors, REPLAYS: errors}
    assert is_material(window(0.99), departure(POWER, REPLAYS, weights=said)) is matters


def test_what_errors_differ_by_makes_no_difference_of_work_material() -> None:
    seen = window(0.99)
    seen.values[0, METRICS.index(REPLAYS)] = 9000.0
    said = {POWER: 0.92, REPLAYS: 0.08}
    assert not is_material(seen, departure(POWER, REPLAYS, weights=said))


@pytest.mark.parametrize(("share", "matters"), [(1.02, False), (1.3, True)])
def test_a_host_has_to_be_busier_by_some_share_of_what_its_peers_are(
    share: float, *, matters: bool
) -> None:
    assert is_material(window(share), departure(CPU)) is matters
    assert is_material(window(share), departure(POWER, CPU)) is matters


def test_what_the_host_does_for_others_is_no_lost_work() -> None:
    seen = window(0.9)
    seen.values[0, METRICS.index(CPU)] = 4000.0
    assert lost_seconds(seen, departure(CPU)) == 0
    assert lost_seconds(seen, departure(POWER, CPU)) == pytest.approx(1.0, abs=1e-5)


def test_what_peers_do_not_do_at_all_matters() -> None:
    seen = window(1.0, peers=0.0)
    seen.values[0] = 1e-3
    assert is_material(seen, departure(METRICS[0]))


def test_a_row_that_was_not_observed_differs_by_nothing() -> None:
    seen = window(0.5)
    seen.observed[0] = False
    assert not is_material(seen, departure(METRICS[0]))


@pytest.mark.parametrize(
    ("share", "lost"), [(0.94, 0.6), (0.96, 0.0), (0.5, 5.0), (1.4, 4.0), (1.0, 0.0), (7.0, 10.0)]
)
def test_no_more_time_is_lost_than_the_difference_and_all_there_is(
    share: float, lost: float
) -> None:
    assert lost_seconds(window(share), departure(METRICS[0])) == pytest.approx(lost, abs=1e-5)


def test_the_metric_that_differs_most_tells_what_is_lost() -> None:
    seen = window(0.9)
    seen.values[0, 1] = 100.0
    assert lost_seconds(seen, departure(*METRICS[:2])) == pytest.approx(7.5)


def test_what_peers_do_not_do_at_all_is_lost_in_full() -> None:
    seen = window(1.0, peers=0.0)
    seen.values[0] = 1e-3
    assert lost_seconds(seen, departure(METRICS[0])) == 10
