"""Drift as Prometheus reads it."""

from __future__ import annotations

from prometheus_client import generate_latest

from paramedic.api.rest.families import registry_of
from paramedic.api.wiring.drift_metrics import drift_families
from paramedic.models.drift.reference import Quantity
from paramedic.models.drift.report import DriftReport, MetricDrift
from paramedic.models.registry.fit import Fit

MOVED = MetricDrift("gpu_power_watts", Quantity.INPUT, 0.5, 0.1, 300, 0.1)
STILL = MetricDrift("gpu_power_watts", Quantity.SCORE, 0.15, 0.1, 300, 0.1)


def test_every_metric_has_its_distance_its_margin_and_whether_it_drifted() -> None:
    report = DriftReport(0, 60, (MOVED, STILL), Fit(("gpu_power_watts",), ("a", "b"), ("c",)))
    page = generate_latest(registry_of(lambda: drift_families(report))).decode()
    lines = {line for line in page.splitlines() if not line.startswith("#")}
    prefix = "paramedic_diagnose_drift"
    moved = '{metric="gpu_power_watts",quantity="input"}'
    still = '{metric="gpu_power_watts",quantity="score"}'
    assert lines == {
        f"{prefix}_distance_ratio{moved} 0.5",
        f"{prefix}_distance_ratio{still} 0.15",
        f"{prefix}_margin_ratio{moved} 0.1",
        f"{prefix}_margin_ratio{still} 0.1",
        f"{prefix}_active{moved} 1.0",
        f"{prefix}_active{still} 0.0",
        f"{prefix}_metrics_missing 2.0",
        f"{prefix}_metrics_new 1.0",
    }
