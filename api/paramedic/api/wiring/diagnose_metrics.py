"""How the diagnosis process is, for Prometheus to read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from paramedic.diagnosis.routing.report import RoutingReport

_COUNTS = {
    "verdicts": "Changes of verdicts that were published.",
    "dead_letters": "Messages that could not be read, put on the dead-letter topic.",
    "sent_home": "Messages under a key that is not their job's, published again under its own.",
    "slots_published": "Dense slots of shards, published to whoever diagnoses the job.",
    "slots_accepted": "Dense slots that were new.",
    "slots_repeated": "Dense slots that had come before, and were left out.",
    "rows_left_out": "Rows of large jobs that came too late, or from a clock nobody believes.",
    "shares_gained": "Shares of the work that were taken over.",
    "shares_lost": "Shares of the work that went to another process.",
    "commits": "Times that marks were kept.",
    "commits_refused": "Times that marks came too late, after the shares had moved on.",
    "bus_losses": "Times that the bus was lost.",
}


def registry_of(report: Callable[[], RoutingReport]) -> CollectorRegistry:
    """A registry whose values are looked up when they are asked for."""
    registry = CollectorRegistry()
    registry.register(_DiagnoseMetrics(report))
    return registry


class _DiagnoseMetrics(Collector):
    def __init__(self, report: Callable[[], RoutingReport]) -> None:
        self._report = report

    def collect(self) -> Iterator[Metric]:
        """The newest report."""
        report = self._report()
        for name, text in _COUNTS.items():
            yield CounterMetricFamily(
                f"paramedic_diagnose_{name}", text, value=report.counts.get(name, 0)
            )
        for name, text, value in (
            ("shares", "Shares of the work that this process holds.", report.shares),
            ("shares_catching_up", "Shares that are not up to date.", report.shares_catching_up),
            ("jobs", "Jobs that are watched.", report.jobs),
        ):
            yield GaugeMetricFamily(f"paramedic_diagnose_{name}", text, value=value)
        lag = GaugeMetricFamily(
            "paramedic_diagnose_lag_messages",
            "Messages that are published and not yet judged.",
            labels=("topic",),
        )
        for topic, messages in sorted(report.lag_messages.items()):
            lag.add_metric((topic,), messages)
        yield lag
