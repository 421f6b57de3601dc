"""How pattern scoring is, for Prometheus to read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.api.rest.families import counters, gauge
from paramedic.api.wiring.drift_metrics import drift_families

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from paramedic.diagnosis.pattern_watch.report import JobPatterns, PatternReport

_PREFIX = "paramedic_diagnose_pattern"
_COUNTS = {
    "slots_scored": "Slots of jobs that were scored.",
    "slots_skipped": "Slots that were beyond what scoring may take, and were left out.",
    "scorers_built": "Times that a job was taken up anew: other rows, metrics or another model.",
    "models_refused": "Models in production that could not be used.",
    "jobs_failed": "Times that the scoring of a job has ended by an error; the log says which.",
}


def pattern_families(report: PatternReport) -> Iterator[Metric]:
    """Everything that a report says; drift once a window has closed."""
    rows = [(name, text, report.counts.get(name, 0)) for name, text in _COUNTS.items()]
    seconds = ("scoring_seconds", "Time that was spent scoring.", report.scoring_seconds)
    yield from counters(_PREFIX, (*rows, seconds))
    yield gauge(
        f"{_PREFIX}_model_info",
        "1 for the model with which the job is scored, and its version in the registry.",
        ("job", "model", "version"),
        [((job, one.model, _version(one)), 1.0) for job, one in report.jobs.items()],
    )
    yield gauge(
        f"{_PREFIX}_oddest_nats",
        "How rare it is to look as odd as the oddest of the job's newest slot, -log p.",
        ("job",),
        [((job,), one.oddest_nats) for job, one in report.jobs.items()],
    )
    yield gauge(
        f"{_PREFIX}_metric_missing",
        "1 for each metric that the job's model was trained on and that does not arrive.",
        ("job", "metric"),
        [((job, name), 1.0) for job, one in report.jobs.items() for name in one.fit.missing],
    )
    yield gauge(
        f"{_PREFIX}_metric_new",
        "1 for each metric of the job that its model was not trained on.",
        ("job", "metric"),
        [((job, name), 1.0) for job, one in report.jobs.items() for name in one.fit.new],
    )
    if report.drift is not None:
        yield from drift_families(report.drift)


def _version(one: JobPatterns) -> str:
    return "shipped" if one.version is None else str(one.version)
