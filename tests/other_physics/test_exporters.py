"""What marks do to metrics, and what scraping leaves of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.other_physics.exporters import Scrape, Scraped, apply_marks, scrape
from benchmarks.other_physics.influences import Course, Mark, Mode
from benchmarks.other_physics.job import Floats

PLAIN = Scrape(1, np.zeros(2, np.int64), 0.0, 0.0, {}, frozenset())


def marked(mode: Mode, size: float, metric: str = "x", course: Course | None = None) -> Floats:
    metrics = {metric: np.tile(np.arange(10.0)[:, None], (1, 2))}
    mark = Mark(metric, np.array([1]), mode, size, course or Course(5.0, 8.0))
    apply_marks(metrics, [mark], "rows", np.random.default_rng(0))
    assert metrics[metric][:, 0].tolist() == list(range(10))
    return metrics[metric][:, 1]


@pytest.mark.parametrize(
    ("mode", "size", "expected"),
    [
        (Mode.SCALE, 2.0, [10, 12, 14]),
        (Mode.SET, 3.0, [3, 3, 3]),
        (Mode.HOLD, 0.0, [5, 5, 5]),
        (Mode.RESET, 0.0, [0, 1, 2]),
    ],
)
def test_a_mark_changes_its_row_while_it_lasts(
    mode: Mode, size: float, expected: list[float]
) -> None:
    assert marked(mode, size).tolist() == [0, 1, 2, 3, 4, *expected, 8, 9]


def test_counts_come_at_a_rate_and_a_total_keeps_them() -> None:
    rate = marked(Mode.COUNT, 50.0, "errors_per_second") - np.arange(10)
    total = marked(Mode.COUNT, 50.0, "errors_total") - np.arange(10)
    assert rate[5:8].min() > 20
    assert rate[8:].tolist() == [0, 0]
    assert total[8:].tolist() == [total[7]] * 2
    assert total[7] > 80


def test_what_is_added_to_a_ratio_stays_below_one() -> None:
    assert marked(Mode.ADD, 0.7, "y_ratio", Course(0.0, 99.0)).max() == 1.0


def test_rows_can_be_absent() -> None:
    mark = Mark("gpu rows", np.array([0]), Mode.ABSENT, 0.0, Course(2.0, 4.0))
    metrics = {"x": np.zeros((5, 2))}
    present = apply_marks(metrics, [mark], "gpu rows", np.random.default_rng(0))
    assert present[:, 0].tolist() == [True, True, False, False, True]
    assert present[:, 1].all()


def scraped(metric: str, how: Scrape, per_node: int = 1) -> Scraped:
    values = np.tile(np.arange(60.0)[:, None], (1, 2 * per_node)) + 0.4
    present = np.ones(values.shape, np.bool_)
    return scrape({metric: values}, present, how, per_node, np.random.default_rng(0))


def test_readings_are_rounded_as_exporters_round_them() -> None:
    assert scraped("gpu_power_watts", PLAIN).columns["gpu_power_watts"][7, 0] == 7.0
    assert scraped("other", PLAIN).columns["other"][7, 0] == 7.4


def test_of_rates_a_slow_scrape_tells_the_mean_and_of_gauges_the_last() -> None:
    how = replace(PLAIN, cadence=5, phases=np.array([4, 4]))
    assert scraped("rate", how).columns["rate"][1, 0] == pytest.approx(7.4)
    assert scraped("gpu_power_watts", how).columns["gpu_power_watts"][1, 0] == 9.0


def test_nodes_are_scraped_in_phases_of_their_own() -> None:
    found = scraped("rate", replace(PLAIN, cadence=5, phases=np.array([0, 3])), per_node=2)
    assert found.seconds[:2].tolist() == [[0, 0, 3, 3], [5, 5, 8, 8]]


def test_a_slow_exporter_repeats_itself() -> None:
    read = scraped("slow", replace(PLAIN, stale={"slow": 5})).columns["slow"][:, 0]
    assert read[5:10].tolist() == [5.4] * 5


def test_values_and_rows_get_lost_and_metrics_are_left_out() -> None:
    lossy = replace(PLAIN, null_share=0.2, lost_row_share=0.2)
    found = scraped("x", lossy)
    assert 5 < np.isnan(found.columns["x"]).sum() < 50
    assert 5 < (~found.present).sum() < 50
    assert scraped("x", replace(PLAIN, left_out=frozenset({"x"}))).columns == {}
