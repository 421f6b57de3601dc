"""What a share gives to the bus: verdicts, slots, dead letters, and strays on their way home."""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING

from paramedic.ingest.batch.encode import encode
from paramedic.ingest.batch.key import message_key
from paramedic.ingest.contract import DeadLetter, JobName, Topic

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paramedic.diagnosis.contract import Verdict
    from paramedic.ingest.contract import Event, Message, Publisher, TelemetryBatch

_LOG = logging.getLogger(__name__)
_HOME_SHARD = 0


def home_key(job: JobName) -> str:
    """The key of everything about a job as a whole: its events, its slots, and its first shard.

    >>> home_key(JobName("llama-7b"))
    'llama-7b/0'
    """
    return message_key(job, _HOME_SHARD)


class Outlet:
    """Publishes and counts. Every method raises BusUnavailableError."""

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher
        self.counts: Counter[str] = Counter()

    def tell(self, verdicts: Iterable[Verdict]) -> None:
        """Publish verdicts and say them in the log."""
        for verdict in verdicts:
            self._publisher.publish(Topic.VERDICTS, verdict.job, verdict.to_json())
            self.counts["verdicts"] += 1
            _LOG.info(
                "%s %s %s %s: %s",
                verdict.status.value,
                verdict.severity.value,
                verdict.fault.value,
                verdict.id,
                verdict.summary,
            )

    def tell_events(self, events: Iterable[Event]) -> None:
        """Publish what this process has seen by itself, for whoever diagnoses the job."""
        for event in events:
            self._publisher.publish(Topic.EVENTS, home_key(event.job), event.to_json())
            _LOG.info("%s of %s: %s", event.kind.value, event.job, event.details.get("message"))

    def give_slot(self, slot: TelemetryBatch) -> None:
        """Publish a dense slot to whoever diagnoses its job."""
        self._publisher.publish(Topic.SLOTS, home_key(slot.job), encode(slot))
        self.counts["slots_published"] += 1

    def bury(self, message: Message, reason: str) -> None:
        """Put what cannot be used on the dead-letter topic, with the reason."""
        _LOG.warning("%s, offset %d: %s", message.topic.value, message.offset, reason)
        letter = DeadLetter.of(message, reason)
        self._publisher.publish(Topic.DEAD_LETTER, message.key, letter.to_json())
        self.counts["dead_letters"] += 1

    def send_home(self, message: Message, job: JobName) -> None:
        """Publish a message again, under the key by which it finds the rest of its job."""
        self._publisher.publish(message.topic, home_key(job), message.payload)
        self.counts["sent_home"] += 1

    def settle(self, timeout_seconds: float) -> None:
        """Wait until the bus has accepted everything."""
        self._publisher.flush(timeout_seconds)

    def close(self) -> None:
        """Let go of the connection."""
        self._publisher.close()
