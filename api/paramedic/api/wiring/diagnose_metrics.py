"""How the diagnosis process is, for Prometheus to read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.api.rest.families import counters, gauge, gauges

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from paramedic.diagnosis.routing.report import RoutingReport

_PREFIX = "paramedic_diagnose"
_COUNTS = {
    "verdicts": "Changes of verdicts that were published.",
    "dead_letters": "Messages that could not be read, put on the dead-letter topic.",
    "sent_home": "Messages under a key that is not their job's, published again under its own.",
    "slots_published": "Dense slots of shards, published to whoever diagnoses the job.",
    "slots_accepted": "Dense slots that were new.",
    "slots_repeated": "Dense slots that had come before, and were left out.",
    "rows_late": "Rows that came after their second was judged; what is late is not lost.",
    "rows_left_out": "Rows of large jobs that came too late, or from a clock nobody believes.",
    "shares_gained": "Shares of the work that were taken over.",
    "shares_lost": "Shares of the work that went to another process.",
    "commits": "Times that marks were kept.",
    "commits_refused": "Times that marks came too late, after the shares had moved on.",
    "bus_losses": "Times that the bus was lost.",
}


def families_of(report: RoutingReport) -> Iterator[Metric]:
    """Everything that a report says."""
    rows = ((name, text, report.counts.get(name, 0)) for name, text in _COUNTS.items())
    yield from counters(_PREFIX, rows)
    yield from gauges(
        _PREFIX,
        (
            ("shares", "Shares of the work that this process holds.", report.shares),
            ("shares_catching_up", "Shares that are not up to date.", report.shares_catching_up),
            ("jobs", "Jobs that are watched.", report.jobs),
        ),
    )
    yield gauge(
        f"{_PREFIX}_lag_messages",
        "Messages that are published and not yet judged.",
        ("topic",),
        [((topic,), messages) for topic, messages in report.lag_messages.items()],
    )
