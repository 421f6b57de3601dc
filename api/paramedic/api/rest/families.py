"""Families of metrics, and a registry that looks them up when somebody asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

Values = Iterable[tuple[tuple[str, ...], float]]


@dataclass(frozen=True, eq=False)
class _OnDemand(Collector):
    families: Callable[[], Iterable[Metric]]

    def collect(self) -> Iterator[Metric]:
        yield from self.families()


def registry_of(families: Callable[[], Iterable[Metric]]) -> CollectorRegistry:
    """A registry whose values are looked up when they are asked for."""
    registry = CollectorRegistry()
    registry.register(_OnDemand(families))
    return registry


def gauge(name: str, text: str, labels: Sequence[str], values: Values) -> Metric:
    """What is so now, by its labels' values."""
    return _filled(GaugeMetricFamily(name, text, labels=labels), values)


def counter(name: str, text: str, labels: Sequence[str], values: Values) -> Metric:
    """What only grows, by its labels' values; Prometheus sees `_total` behind the name."""
    return _filled(CounterMetricFamily(name, text, labels=labels), values)


def gauges(prefix: str, rows: Iterable[tuple[str, str, float]]) -> Iterator[Metric]:
    """One value each: a name behind the prefix, its help, the value."""
    for name, text, value in rows:
        yield gauge(f"{prefix}_{name}", text, (), [((), value)])


def counters(prefix: str, rows: Iterable[tuple[str, str, float]]) -> Iterator[Metric]:
    """The same of what only grows."""
    for name, text, value in rows:
        yield counter(f"{prefix}_{name}", text, (), [((), value)])


def _filled(family: CounterMetricFamily | GaugeMetricFamily, values: Values) -> Metric:
    for labels, value in sorted(values):
        family.add_metric(labels, value)
    return family
