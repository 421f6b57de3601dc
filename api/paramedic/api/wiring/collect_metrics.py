"""What collect has done, for Prometheus to read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, TypeVar

from paramedic.api.rest.families import counter, counters, gauge, gauges

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from paramedic.ingest.collect.status import CollectStatus

Name = TypeVar("Name", bound=str)
_PREFIX = "paramedic_collect"


def families_of(status: CollectStatus) -> Iterator[Metric]:
    """Everything that a snapshot says."""
    yield from counters(
        _PREFIX,
        (
            ("pages", "Pages that were read.", status.pages),
            ("samples", "Samples that were read, before cleaning.", status.samples),
            ("facts", "Xids and other facts that were read.", status.facts),
            ("batches", "Telemetry batches that were published.", status.batches),
            ("events", "Events that were published.", status.events),
            ("bus_resets", "Times the bus had lost what it had taken.", status.bus_resets),
            (
                "forgotten_messages",
                "Messages of before those times, expired ones included.",
                status.forgotten_messages,
            ),
        ),
    )
    yield from _by_reason(status)
    yield from gauges(
        _PREFIX,
        (
            ("lag_seconds", "Age of the newest page once it is dealt with.", status.lag_seconds),
            ("waiting_messages", "Messages that the bus has not taken.", status.waiting_messages),
            ("silent_origins", "Origins that do not answer.", status.silent_origins),
            ("hosts", "Hosts with GPUs.", status.hosts),
            ("gpus", "GPUs.", status.gpus),
        ),
    )
    yield from _by_job(status)


def _by_reason(status: CollectStatus) -> Iterator[Metric]:
    yield counter(
        f"{_PREFIX}_rejected_samples",
        "Samples that cleaning left out.",
        ("reason", "metric"),
        status.rejected.items(),
    )
    yield counter(
        f"{_PREFIX}_unpublished_rows",
        "Clean rows that belong to no job or slot.",
        ("reason",),
        _alone(status.unpublished_rows),
    )
    lost = "Lost, by what."
    yield counter(f"{_PREFIX}_dropped", lost, ("what",), _alone(status.dropped))


def _by_job(status: CollectStatus) -> Iterator[Metric]:
    nodes = {name: job.nodes for name, job in status.jobs.items()}
    sampling = {name: job.sampling_seconds for name, job in status.jobs.items()}
    found = "Nodes of a job that was found."
    yield gauge(f"{_PREFIX}_job_nodes", found, ("job",), _alone(nodes))
    cadence = "The job's measured cadence."
    yield gauge(f"{_PREFIX}_job_sampling_seconds", cadence, ("job",), _alone(sampling))


def _alone(values: Mapping[Name, int]) -> list[tuple[tuple[Name], int]]:
    return [((name,), value) for name, value in values.items()]
