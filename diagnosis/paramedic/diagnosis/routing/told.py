"""What was told about each job, read from the verdict topic: what is open, and until when."""

from __future__ import annotations

import logging
import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Status, Verdict, VerdictFormatError
from paramedic.ingest.contract import Topic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paramedic.ingest.bus.group import GroupBus
    from paramedic.ingest.contract import JobName, Message

_LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class Told:
    """The verdicts of one job, as the topic has them."""

    until: float = -math.inf
    """The newest `detected_at` of all that was told (Unix seconds)."""
    _newest: dict[str, Verdict] = field(default_factory=dict)
    _resolved: set[str] = field(default_factory=set)

    @property
    def open(self) -> Sequence[Verdict]:
        """What is open now, each by what was said of it last."""
        return tuple(self._newest.values())

    def knows(self, verdict: Verdict) -> bool:
        """Whether a verdict of this id was told."""
        return verdict.id in self._newest or verdict.id in self._resolved

    def hear(self, verdict: Verdict) -> None:
        """A verdict was told by a predecessor; the time of which it was told goes on with it."""
        self.until = max(self.until, verdict.detected_at.timestamp())
        self.add(verdict)

    def add(self, verdict: Verdict) -> None:
        """A verdict was told; repeats of earlier words change nothing."""
        known = self._newest.get(verdict.id)
        if verdict.status is Status.RESOLVED:
            self._resolved.add(verdict.id)
            self._newest.pop(verdict.id, None)
        elif verdict.id not in self._resolved and (
            known is None or verdict.detected_at >= known.detected_at
        ):
            self._newest[verdict.id] = verdict


def read_told(bus: GroupBus) -> Mapping[JobName, Told]:
    """Everything on the verdict topic now, by job. Raises BusUnavailableError."""
    by_job: dict[JobName, Told] = defaultdict(Told)
    for message in bus.held(Topic.VERDICTS):
        verdict = read_verdict(message)
        if verdict is not None:
            by_job[verdict.job].hear(verdict)
    return dict(by_job)


def read_verdict(message: Message) -> Verdict | None:
    """The verdict in a message; None, with a line that says why, where there is none."""
    try:
        return Verdict.from_json(message.payload)
    except VerdictFormatError as error:
        _LOG.warning("passed over offset %d of the verdicts: %s", message.offset, error)
        return None
