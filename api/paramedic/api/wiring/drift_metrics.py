"""Drift of the pattern model's inputs and scores, for Prometheus to read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.api.rest.families import gauge, gauges

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from paramedic.models.drift.report import DriftReport

_PREFIX = "paramedic_diagnose_drift"
_LABELS = ("metric", "quantity")


def drift_families(report: DriftReport) -> Iterator[Metric]:
    """What the last closed window says."""
    rows = [((one.metric, one.quantity.value), one) for one in report.metrics]
    yield gauge(
        f"{_PREFIX}_distance_ratio",
        "Share of values that lie elsewhere than in training, at least.",
        _LABELS,
        [(labels, one.distance) for labels, one in rows],
    )
    yield gauge(
        f"{_PREFIX}_margin_ratio",
        "How much of the distance may be chance.",
        _LABELS,
        [(labels, one.margin) for labels, one in rows],
    )
    yield gauge(
        f"{_PREFIX}_active",
        "1 where the distance is beyond chance and what is tolerated.",
        _LABELS,
        [(labels, float(one.has_drifted)) for labels, one in rows],
    )
    yield from gauges(
        _PREFIX,
        (
            (
                "metrics_missing",
                "Metrics of the model that do not arrive.",
                len(report.fit.missing),
            ),
            ("metrics_new", "Metrics that the model was not trained on.", len(report.fit.new)),
        ),
    )
