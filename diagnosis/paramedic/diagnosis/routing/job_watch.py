"""One job of a share: its detector, its time, and how far back its messages are still needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Status
from paramedic.diagnosis.ordering import StreamTime
from paramedic.diagnosis.routing.trail import Trail
from paramedic.ingest.contract import Event, EventKind, Topic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paramedic.diagnosis.contract import Verdict
    from paramedic.diagnosis.detector import JobDetector
    from paramedic.diagnosis.routing.told import Told
    from paramedic.ingest.contract import Message, TelemetryBatch

_LEAST_SLOTS = 4


class JobWatch:
    """Feeds a detector.

    What a predecessor has judged already is judged again to know what it knew, and is not told
    again. It ends with the first message that nobody has judged, and that is younger than all that
    was told of the job. From there on the verdicts that are open are those that were told: a
    detector that remembers less than its predecessor neither repeats nor forgets one.
    """

    def __init__(
        self,
        detector: JobDetector,
        rewind_seconds: float,
        judged: Mapping[Topic, int],
        told: Told,
    ) -> None:
        self._detector = detector
        self._rewind_seconds = rewind_seconds
        self._judged = judged
        self._told = told
        self._is_live = False
        self._time = StreamTime()
        self._trails = {topic: Trail(rewind_seconds) for topic in (Topic.TELEMETRY, Topic.SLOTS)}
        self.heard_at = 0.0
        """When something last came, by the clock of `now`."""

    @property
    def rows_late(self) -> int:
        """Rows that came too late to be used."""
        return self._detector.rows_late

    def judge(
        self, message: Message, fact: TelemetryBatch | Event, now: float
    ) -> Sequence[Verdict]:
        """What is to be told after this message; `now` is any steady clock, in seconds.

        Raises ForeignBatchError for a batch that does not hold together.
        """
        self.heard_at = now
        is_new = message.offset >= self._judged.get(message.topic, 0)
        if is_new and not self._is_live and _time_of(fact) > self._told.until:
            self._is_live = True
            self._detector.adopt(self._told.open)
        if isinstance(fact, Event):
            self._follow_cadence(fact)
            verdicts = self._detector.record(fact)
            if not self._is_live:
                return self._news(verdicts) if is_new else ()
            return verdicts
        self._trails[message.topic].note(fact.second, message.offset, now, is_new=is_new)
        verdicts = self._detector.accept(fact, self._time.see(fact))
        return verdicts if self._is_live else ()

    def _news(self, verdicts: Sequence[Verdict]) -> Sequence[Verdict]:
        """Of what a new event decides in a time of which others were told: what is told of it.

        An event comes once, so its verdict would be lost; its id follows from the event alone.
        """
        news = [one for one in verdicts if one.status is Status.FIRING or self._told.knows(one)]
        for verdict in news:
            self._told.add(verdict)
        return news

    def _follow_cadence(self, event: Event) -> None:
        """A window has at least four slots, so those of a slow source reach further back."""
        seconds = event.details.get("sampling_seconds")
        if event.kind is EventKind.JOB_STATE and isinstance(seconds, int | float):
            for trail in self._trails.values():
                trail.span_seconds = self._rewind_seconds + _LEAST_SLOTS * seconds

    def needed(self, topic: Topic, now: float) -> int | None:
        """The oldest offset of the topic that a successor would have to read."""
        trail = self._trails.get(topic)
        return None if trail is None else trail.needed(now)


def _time_of(fact: TelemetryBatch | Event) -> float:
    return fact.timestamp.timestamp() if isinstance(fact, Event) else fact.second
