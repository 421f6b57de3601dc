"""What each floor finds odd."""

from __future__ import annotations

import numpy as np
import pytest

from models.rivals.machines import level, noise
from paramedic.models.rivals.blind import AlwaysTheFirst, RandomScores
from paramedic.models.rivals.cusum import Cusum, CusumSettings, as_it_is, share_of_peers
from paramedic.models.rivals.learned import isolation_forest, local_outlier_factor
from paramedic.models.rivals.moments import MomentsDistance, window_moments
from paramedic.models.rivals.peers import LargestZ, MedianAndMad, comparable, plain_z, robust_z
from paramedic.models.rivals.static_limits import StaticLimits

QUICK = CusumSettings(past=40, gap=5, refresh=5, every=1, fewest=10)


def test_a_random_score_passes_a_threshold_of_two_once_in_a_hundred() -> None:
    scores = RandomScores().score(level(load=noise(500, 20)))
    assert (scores > 2.0).mean() == pytest.approx(0.01, abs=0.003)


def test_a_random_score_is_the_same_however_much_of_the_history_there_is() -> None:
    scores = RandomScores().score(level(load=noise(50, 3)))
    assert RandomScores().score(level(load=noise(20, 3))).tolist() == scores[:20].tolist()


def test_the_first_machine_is_accused_every_ten_minutes() -> None:
    scores = AlwaysTheFirst().score(level(load=noise(1300, 2)))
    assert (scores[:, 0].sum(), scores[:, 1].sum()) == (2.0, 0.0)


def test_a_limit_that_is_passed_scores_above_one_on_either_side() -> None:
    power = np.array([[500.0, 75.0, 500.0]])
    heat = np.array([[60.0, 60.0, 93.5]])
    scores = StaticLimits().score(level(gpu_power_watts=power, gpu_temperature_celsius=heat))
    assert scores[0].round(2).tolist() == [0.71, 2.0, 1.1]


def test_codes_and_running_totals_are_not_compared() -> None:
    asked = ("gpu_xid", "gpu_ecc_correctable_total", "gpu_power_watts", "house_metric")
    assert comparable(asked) == ("gpu_power_watts", "house_metric")


def test_the_plain_z_of_a_lone_outlier_is_bounded_by_the_number_of_machines() -> None:
    values = np.zeros((1, 5, 1))
    values[0, 2] = 1e6
    assert plain_z(values)[0, 2, 0] == pytest.approx(2.0)
    assert LargestZ().score(level(load=values[:, :, 0]))[0].argmax() == 2


def test_the_robust_z_of_a_lone_outlier_is_not() -> None:
    values = np.array([[[1.0], [1.1], [0.9], [1.0], [9.0]]])
    z = robust_z(values, np.zeros(1))[0, :, 0]
    assert z[4] > 40
    assert abs(z[1]) < 1


def test_of_two_machines_nobody_can_say_which_is_odd() -> None:
    assert np.isnan(robust_z(np.array([[[1.0], [9.0]]]), np.zeros(1))).all()


def test_a_metric_that_was_noisy_in_training_is_odd_for_more_only() -> None:
    calm = np.full((1, 6), 0.0)
    calm[0, 3] = 2.0
    untaught, taught = MedianAndMad(), MedianAndMad()
    noisy = np.random.default_rng(0).poisson(2.0, (300, 6)).astype(np.float64)
    taught.learn([level(drops=noisy)])
    assert untaught.score(level(drops=calm))[0, 3] == 50.0
    assert taught.score(level(drops=calm))[0, 3] < 10.0


def test_moments_are_those_of_the_newest_window() -> None:
    values = np.random.default_rng(0).exponential(1.0, (40, 2, 7))
    values[30, 1, 3] = np.nan
    at = window_moments(values, 16)[35, 1]
    seen = values[20:36, 1, 3]
    seen = seen[~np.isnan(seen)]
    off = seen - seen.mean()
    shape = [(off**power).mean() / off.std() ** power for power in (3, 4)]
    expected = [seen.mean(), off.std(), *shape]
    assert at.reshape(4, 7)[:, 3].tolist() == pytest.approx(expected)


def test_the_machine_whose_moments_differ_is_the_farthest() -> None:
    healthy = level(gpu_power_watts=noise(200, 6), cpu_utilization_ratio=noise(200, 6, 1))
    scorer = MomentsDistance()
    scorer.learn([healthy])
    shaky = noise(60, 6, 2)
    shaky[:, 4] = noise(60, 1, 3)[:, 0] + np.tile([0.2, -0.2], 30)
    scores = scorer.score(level(gpu_power_watts=shaky, cpu_utilization_ratio=noise(60, 6, 4)))
    assert (scores[20:].argmax(axis=1) == 4).all()


@pytest.mark.long
@pytest.mark.parametrize("build", [isolation_forest, local_outlier_factor])
def test_a_learned_model_finds_the_row_that_is_like_none_in_training(build: object) -> None:
    model = build()  # type: ignore[operator]
    assert not model.score(level(load=noise(1, 5))).any()
    model.learn([level(load=noise(40, 8), power=noise(40, 8, 1))])
    odd = level(load=noise(4, 8, 2), power=noise(4, 8, 3))
    odd.values[:, 5] = 0.6
    assert (model.score(odd).argmax(axis=1) == 5).all()


def test_evidence_against_the_own_past_adds_up() -> None:
    values = noise(100, 4)
    values[70:, 1] += 0.05
    scores = Cusum(as_it_is, QUICK).score(level(load=values))
    assert not scores[: QUICK.refresh].any()
    assert scores[85].argmax() == 1
    assert scores[85, 1] > scores[75, 1] > 3 * scores[75, [0, 2, 3]].max()


def test_what_moves_all_machines_counts_against_the_own_past_and_not_against_peers() -> None:
    values = noise(100, 4)
    values[70:] *= 0.5
    past, peers = (
        Cusum(kind, QUICK).score(level(load=values)) for kind in (as_it_is, share_of_peers)
    )
    assert past[85].min() > 40
    assert peers[85].max() < 20


def test_something_after_a_past_of_nothing_counts_in_full() -> None:
    values = np.zeros((60, 3))
    values[50:, 2] = 7.0
    scores = Cusum(as_it_is, QUICK).score(level(drops=values))
    assert scores[54].tolist() == [0.0, 0.0, 5 * (QUICK.largest_z - QUICK.allowance)]


@pytest.mark.parametrize(
    "scorer",
    [LargestZ(), MedianAndMad(), MomentsDistance(), Cusum(as_it_is, QUICK), Cusum(share_of_peers)],
)
def test_a_job_without_telemetry_is_no_trouble(scorer: object) -> None:
    nothing = level(load=np.full((100, 3), np.nan))
    scores = scorer.score(nothing)  # type: ignore[attr-defined]
    assert not (scores > 0).any()
