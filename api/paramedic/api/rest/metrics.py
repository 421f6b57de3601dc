"""The page that Prometheus reads: counted in the database at the moment it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from prometheus_client import generate_latest

from paramedic.api.rest.families import counter, gauge, registry_of
from paramedic.api.rest.measured import goodput_of

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from paramedic.api.rest.state import Signs
from paramedic.remediation.contract import Job, Records, Tally


def metrics_page(records: Records, version: str, signs: Mapping[str, Signs]) -> bytes:
    """The page in Prometheus' text format. Raises StoreUnavailableError."""
    with records.reading() as view:
        jobs, tally = view.jobs.all(), view.tally()

    def families() -> Iterator[Metric]:
        yield from _of_the_server(version, signs)
        yield from _of_verdicts(tally)
        yield from _of_jobs(jobs)

    return generate_latest(registry_of(families))


def _of_the_server(version: str, signs: Mapping[str, Signs]) -> Iterator[Metric]:
    yield gauge(
        "paramedic_build_info",
        "Always 1; the label says which version runs.",
        ("version",),
        [((version,), 1)],
    )
    yield gauge(
        "paramedic_service_silent_seconds",
        "Seconds since a service beside the API last gave a sign of life.",
        ("service",),
        [((name,), one.silent_seconds()) for name, one in signs.items()],
    )


def _of_verdicts(tally: Tally) -> Iterator[Metric]:
    yield gauge(
        "paramedic_verdicts",
        "Verdicts by what they say now.",
        ("status", "fault", "severity"),
        tally.verdicts.items(),
    )
    yield counter(
        "paramedic_verdict_changes",
        "States that verdicts have taken, by status.",
        ("status",),
        [((status,), count) for status, count in tally.verdict_changes.items()],
    )
    yield gauge(
        "paramedic_incidents_open",
        "Incidents with a verdict that is not resolved.",
        ("job", "severity"),
        tally.incidents_open.items(),
    )
    yield gauge(
        "paramedic_actions",
        "Actions by how far they have come.",
        ("kind", "state"),
        tally.actions.items(),
    )


def _of_jobs(jobs: Sequence[Job]) -> Iterator[Metric]:
    yield gauge(
        "paramedic_job_info",
        "Always 1; the label says what the job does.",
        ("job", "state"),
        [((job.name, job.state.value), 1) for job in jobs if job.state is not None],
    )
    for name, text, read in _READINGS:
        values = [((job.name,), read(job)) for job in jobs]
        known = [(labels, value) for labels, value in values if value is not None]
        yield gauge(f"paramedic_job_{name}", text, ("job",), known)


_READINGS: tuple[tuple[str, str, Callable[[Job], float | None]], ...] = (
    (
        "generation",
        "The job's generation; it grows by one at every recovery.",
        lambda job: job.generation,
    ),
    ("step", "The newest training step that every rank has completed.", lambda job: job.step),
    ("goodput_ratio", "Productive share of the job's wall time.", goodput_of),
)
