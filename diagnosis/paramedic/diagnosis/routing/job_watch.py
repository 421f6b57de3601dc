"""One job of a share: its detector, its time, and how far back its messages are still needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.diagnosis.ordering import StreamTime
from paramedic.diagnosis.routing.trail import Trail
from paramedic.ingest.contract import Event, Topic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paramedic.diagnosis.contract import Detector, Verdict
    from paramedic.ingest.contract import Message, TelemetryBatch


class JobWatch:
    """Feeds a detector.

    What a predecessor has judged already is judged again to know what it knew, and is not told
    again. With the first message that nobody has judged the verdicts that are open are those that
    were told: a detector that remembers less than its predecessor neither repeats nor forgets one.
    """

    def __init__(
        self,
        detector: Detector,
        rewind_seconds: float,
        judged: Mapping[Topic, int],
        open_verdicts: Sequence[Verdict],
    ) -> None:
        self._detector = detector
        self._judged = judged
        self._open_verdicts = open_verdicts
        self._is_live = not judged
        self._time = StreamTime()
        self._trails = {topic: Trail(rewind_seconds) for topic in (Topic.TELEMETRY, Topic.SLOTS)}
        self.heard_at = 0.0
        """When something last came, by the clock of `now`."""

    def judge(
        self, message: Message, fact: TelemetryBatch | Event, now: float
    ) -> Sequence[Verdict]:
        """What is to be told after this message; `now` is any steady clock, in seconds.

        Raises ForeignBatchError for a batch that does not hold together.
        """
        self.heard_at = now
        if not self._is_live and message.offset >= self._judged.get(message.topic, 0):
            self._is_live = True
            self._detector.adopt(self._open_verdicts)
        if isinstance(fact, Event):
            verdicts = self._detector.record(fact)
        else:
            is_new = message.offset >= self._judged.get(message.topic, 0)
            self._trails[message.topic].note(fact.second, message.offset, now, is_new=is_new)
            verdicts = self._detector.accept(fact, self._time.see(fact))
        return verdicts if self._is_live else ()

    def needed(self, topic: Topic, now: float) -> int | None:
        """The oldest offset of the topic that a successor would have to read."""
        trail = self._trails.get(topic)
        return None if trail is None else trail.needed(now)
