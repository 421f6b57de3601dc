"""What collect has done, for Prometheus to read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from paramedic.ingest.collect.status import CollectStatus


def registry_of(status: Callable[[], CollectStatus]) -> CollectorRegistry:
    """A registry whose values are looked up when they are asked for."""
    registry = CollectorRegistry()
    registry.register(_CollectMetrics(status))
    return registry


class _CollectMetrics(Collector):
    def __init__(self, status: Callable[[], CollectStatus]) -> None:
        self._status = status

    def collect(self) -> Iterator[Metric]:
        """The newest snapshot."""
        status = self._status()
        yield from _totals(status)
        yield from _by_reason(status)
        yield from _now(status)


def _totals(status: CollectStatus) -> Iterator[Metric]:
    for name, text, value in (
        ("pages", "Pages that were read.", status.pages),
        ("samples", "Samples that were read, before cleaning.", status.samples),
        ("facts", "Xids and other facts that were read.", status.facts),
        ("batches", "Telemetry batches that were published.", status.batches),
        ("events", "Events that were published.", status.events),
    ):
        yield CounterMetricFamily(f"paramedic_collect_{name}", text, value=value)


def _by_reason(status: CollectStatus) -> Iterator[Metric]:
    rejected = CounterMetricFamily(
        "paramedic_collect_rejected_samples",
        "Samples that cleaning left out.",
        labels=("reason", "metric"),
    )
    for labels, count in sorted(status.rejected.items()):
        rejected.add_metric(labels, count)
    yield rejected
    yield _counter(
        "paramedic_collect_unpublished_rows",
        "Clean rows that belong to no job or slot.",
        "reason",
        status.unpublished_rows,
    )
    yield _counter(
        "paramedic_collect_dropped", "Lost for want of room, by what.", "what", status.dropped
    )


def _now(status: CollectStatus) -> Iterator[Metric]:
    for name, text, value in (
        ("lag_seconds", "Age of the newest page when it had been dealt with.", status.lag_seconds),
        ("waiting_messages", "Messages that the bus has not taken.", status.waiting_messages),
        ("silent_origins", "Origins that do not answer.", status.silent_origins),
        ("hosts", "Hosts with GPUs.", status.hosts),
        ("gpus", "GPUs.", status.gpus),
    ):
        yield GaugeMetricFamily(f"paramedic_collect_{name}", text, value=value)
    nodes = GaugeMetricFamily(
        "paramedic_collect_job_nodes", "Nodes of a job that was found.", labels=("job",)
    )
    sampling = GaugeMetricFamily(
        "paramedic_collect_job_sampling_seconds", "The job's measured cadence.", labels=("job",)
    )
    for name, job in sorted(status.jobs.items()):
        nodes.add_metric((name,), job.nodes)
        sampling.add_metric((name,), job.sampling_seconds)
    yield nodes
    yield sampling


def _counter(name: str, text: str, label: str, values: Mapping[str, int]) -> Metric:
    family = CounterMetricFamily(name, text, labels=(label,))
    for value, count in sorted(values.items()):
        family.add_metric((value,), count)
    return family
