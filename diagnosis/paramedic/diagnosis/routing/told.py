"""The verdicts that were told and are open, read from the bus that they were told on."""

from __future__ import annotations

import logging
from collections import defaultdict
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Status, Verdict, VerdictFormatError
from paramedic.ingest.contract import Topic

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from paramedic.ingest.bus.group import GroupBus
    from paramedic.ingest.contract import JobName, Message

_LOG = logging.getLogger(__name__)


def open_verdicts(bus: GroupBus) -> Mapping[JobName, Sequence[Verdict]]:
    """By job, what the verdict topic says is open now. Raises BusUnavailableError."""
    by_job: dict[JobName, list[Verdict]] = defaultdict(list)
    for verdict in _still_open(bus.held(Topic.VERDICTS)):
        by_job[verdict.job].append(verdict)
    return by_job


def _still_open(messages: Iterable[Message]) -> Iterable[Verdict]:
    """The last word on each verdict; repeats of earlier words change nothing."""
    newest: dict[str, Verdict] = {}
    resolved: set[str] = set()
    for message in messages:
        try:
            verdict = Verdict.from_json(message.payload)
        except VerdictFormatError as error:
            _LOG.warning("passed over offset %d of the verdicts: %s", message.offset, error)
            continue
        if verdict.status is Status.RESOLVED:
            resolved.add(verdict.id)
            newest.pop(verdict.id, None)
        elif verdict.id not in resolved and _is_news(verdict, newest.get(verdict.id)):
            newest[verdict.id] = verdict
    return newest.values()


def _is_news(verdict: Verdict, known: Verdict | None) -> bool:
    return known is None or verdict.detected_at >= known.detected_at
