"""The same values in every dialect come out as the same canonical values."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.cleaning.dialects import believable, gpu_dialects, index_lines
from ingest.cleaning.pages import Exporter, column
from paramedic.ingest.catalogue.catalogue import shipped_catalogue

DIALECTS = gpu_dialects()
METRICS = shipped_catalogue().metrics
GPUS = 2

Truth = dict[str, list[float]]


@st.composite
def truths(draw: st.DrawFn) -> Truth:
    """Canonical values of every metric, one a GPU: gauges as they are, counters as their growth."""
    return {
        name: [draw(st.floats(*believable(METRICS[name]))) for _ in range(GPUS)]
        for name in sorted({metric for metrics in DIALECTS.values() for metric in metrics})
    }


def pages(dialect: str, truth: Truth) -> tuple[str, str]:
    """Two pages of the dialect, a second apart, between which counters grow by the truth."""
    before, after = index_lines(dialect, GPUS), index_lines(dialect, GPUS)
    for metric, said in DIALECTS[dialect].items():
        for gpu, value in enumerate(truth[metric]):
            before += said.line(0.0 if said.exported.is_rate else value, gpu)
            after += said.line(value, gpu)
    return before, after


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
@settings(max_examples=settings().max_examples // 8)  # each is a whole page
@given(truths())
def test_a_generated_page_gives_the_same_canonical_values_in_every_dialect(
    dialect: str, truth: Truth
) -> None:
    exporter = Exporter()
    before, after = pages(dialect, truth)
    exporter.says(before, 100.0)
    page = exporter.says(after, 101.0)
    assert not page.rejected
    for metric in DIALECTS[dialect]:
        assert column(page, metric) == pytest.approx(
            {("n1", gpu): value for gpu, value in enumerate(truth[metric])}, rel=1e-9, abs=1e-12
        ), metric


def test_the_dialects_share_most_of_what_detection_needs() -> None:
    needed = {
        "gpu_utilization_ratio",
        "gpu_power_watts",
        "gpu_temperature_celsius",
        "gpu_memory_used_bytes",
        "gpu_sm_clock_hertz",
        "gpu_memory_temperature_celsius",
    }
    for dialect, metrics in DIALECTS.items():
        assert needed <= metrics.keys(), dialect
