"""The page that Prometheus reads: counted in the database at the moment it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from paramedic.api.rest.state import Signs
    from paramedic.remediation.contract import Job, Records, Tally


def metrics_page(records: Records, version: str, signs: Mapping[str, Signs]) -> bytes:
    """The page in Prometheus' text format. Raises StoreUnavailableError."""
    with records.reading() as view:
        jobs, tally = view.jobs.all(), view.tally()
    registry = CollectorRegistry()
    registry.register(_Counts(jobs, tally, version, signs))
    return generate_latest(registry)


@dataclass(frozen=True, eq=False)
class _Counts(Collector):
    jobs: Sequence[Job]
    tally: Tally
    version: str
    signs: Mapping[str, Signs]

    def collect(self) -> Iterator[Metric]:
        yield _gauge(
            "paramedic_build_info",
            "Always 1; the label says which version runs.",
            ("version",),
            [((self.version,), 1)],
        )
        yield _gauge(
            "paramedic_service_silent_seconds",
            "Seconds since a service beside the API last gave a sign of life.",
            ("service",),
            [((name,), signs.silent_seconds()) for name, signs in self.signs.items()],
        )
        yield from self._verdicts()
        yield from self._handling()
        yield from self._of_jobs()

    def _verdicts(self) -> Iterator[Metric]:
        yield _gauge(
            "paramedic_verdicts",
            "Verdicts by what they say now.",
            ("status", "fault", "severity"),
            self.tally.verdicts.items(),
        )
        changes = CounterMetricFamily(
            "paramedic_verdict_changes",
            "States that verdicts have taken, by status.",
            labels=("status",),
        )
        for status, count in sorted(self.tally.verdict_changes.items()):
            changes.add_metric((status,), count)
        yield changes

    def _handling(self) -> Iterator[Metric]:
        yield _gauge(
            "paramedic_incidents_open",
            "Incidents with a verdict that is not resolved.",
            ("job", "severity"),
            self.tally.incidents_open.items(),
        )
        yield _gauge(
            "paramedic_actions",
            "Actions by how far they have come.",
            ("kind", "state"),
            self.tally.actions.items(),
        )

    def _of_jobs(self) -> Iterator[Metric]:
        yield _gauge(
            "paramedic_job_info",
            "Always 1; the label says what the job does.",
            ("job", "state"),
            [((job.name, job.state.value), 1) for job in self.jobs if job.state is not None],
        )
        yield self._per_job(
            "paramedic_job_generation",
            "The job's generation; it grows by one at every recovery.",
            lambda job: job.generation,
        )
        yield self._per_job(
            "paramedic_job_step",
            "The newest training step that every rank has completed.",
            lambda job: job.step,
        )
        yield self._per_job(
            "paramedic_job_goodput_ratio",
            "Productive share of the job's wall time.",
            lambda job: job.goodput,
        )

    def _per_job(self, name: str, text: str, read: Callable[[Job], float | None]) -> Metric:
        values = [(job.name, read(job)) for job in self.jobs]
        known = [((job,), value) for job, value in values if value is not None]
        return _gauge(name, text, ("job",), known)


def _gauge(
    name: str,
    text: str,
    labels: Sequence[str],
    values: Iterable[tuple[tuple[str, ...], float]],
) -> Metric:
    gauge = GaugeMetricFamily(name, text, labels=labels)
    for label_values, value in sorted(values):
        gauge.add_metric(label_values, value)
    return gauge
