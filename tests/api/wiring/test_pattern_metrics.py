"""Pattern scoring as Prometheus reads it."""

from __future__ import annotations

import re
from pathlib import Path

from prometheus_client import generate_latest

from paramedic.api.rest.families import registry_of
from paramedic.api.wiring.pattern_metrics import pattern_families
from paramedic.diagnosis.pattern_watch.report import JobPatterns, PatternReport
from paramedic.ingest.contract import JobName
from paramedic.models.drift.reference import Quantity
from paramedic.models.drift.report import DriftReport, MetricDrift
from paramedic.models.registry.fit import Fit

DOCUMENTS = [Path(__file__).parents[3] / "docs" / name for name in ("models.md", "command-line.md")]
FIT = Fit(usable=("a",), missing=("gpu_power_watts",), new=("gpu_fan_ratio",))
PREFIX = "paramedic_diagnose_pattern"


def lines(report: PatternReport) -> set[str]:
    page = generate_latest(registry_of(lambda: pattern_families(report))).decode()
    return {line for line in page.splitlines() if not line.startswith("#")}


def test_every_job_has_its_model_its_oddest_score_and_the_metrics_that_do_not_fit() -> None:
    jobs = {
        JobName("a"): JobPatterns("default", None, FIT, 4.5),
        JobName("b"): JobPatterns("ours", 3, Fit(("a",), (), ()), 0.0),
    }
    names = ("slots_scored", "slots_skipped", "scorers_built", "models_refused", "jobs_failed")
    counts = dict(zip(names, (9, 2, 3, 1, 4), strict=True))
    assert lines(PatternReport(jobs, None, 1.5, counts)) == {
        f'{PREFIX}_model_info{{job="a",model="default",version="shipped"}} 1.0',
        f'{PREFIX}_model_info{{job="b",model="ours",version="3"}} 1.0',
        f'{PREFIX}_oddest_nats{{job="a"}} 4.5',
        f'{PREFIX}_oddest_nats{{job="b"}} 0.0',
        f'{PREFIX}_metric_missing{{job="a",metric="gpu_power_watts"}} 1.0',
        f'{PREFIX}_metric_new{{job="a",metric="gpu_fan_ratio"}} 1.0',
        f"{PREFIX}_slots_scored_total 9.0",
        f"{PREFIX}_slots_skipped_total 2.0",
        f"{PREFIX}_scorers_built_total 3.0",
        f"{PREFIX}_models_refused_total 1.0",
        f"{PREFIX}_jobs_failed_total 4.0",
        f"{PREFIX}_scoring_seconds_total 1.5",
    }


def test_before_anything_is_scored_the_counts_are_zero_and_drift_is_silent() -> None:
    assert lines(PatternReport()) == {
        f"{PREFIX}_{name}_total 0.0"
        for name in (
            "slots_scored",
            "slots_skipped",
            "scorers_built",
            "models_refused",
            "jobs_failed",
            "scoring_seconds",
        )
    }


def test_drift_of_the_last_window_is_among_it() -> None:
    report = PatternReport(drift=DriftReport(0, 60, (), FIT))
    assert "paramedic_diagnose_drift_metrics_missing 1.0" in lines(report)


def test_every_metric_is_documented() -> None:
    moved = MetricDrift("gpu_power_watts", Quantity.INPUT, 0.5, 0.1, 300, 0.1)
    report = PatternReport(drift=DriftReport(0, 60, (moved,), FIT))
    families = {one.name for one in pattern_families(report)}
    text = "".join(document.read_text() for document in DOCUMENTS)
    told = re.findall(
        r"`(?:paramedic_diagnose_)?((?:pattern|drift)_[a-z_]+?)(?:_total)?(?:\{[a-z,]*\})?`", text
    )
    assert families == {f"paramedic_diagnose_{one}" for one in told}
