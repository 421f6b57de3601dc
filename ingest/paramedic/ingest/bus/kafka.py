"""The bus over any Kafka broker, through kafka-python; everything particular to Kafka is here and
in the publisher and the subscription beside it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterator, Sequence

from kafka import KafkaAdminClient
from kafka.errors import KafkaError, KafkaTimeoutError, TopicAlreadyExistsError

from paramedic.ingest.bus.kafka_group import KafkaMembership
from paramedic.ingest.bus.kafka_publisher import KafkaPublisher
from paramedic.ingest.bus.kafka_reach import require_broker
from paramedic.ingest.bus.kafka_settings import KafkaSettings, no_broker, no_entry
from paramedic.ingest.bus.kafka_subscription import KafkaSubscription
from paramedic.ingest.contract import BusUnavailableError, Message, Start, Topic

_HELD_POLL_SECONDS = 0.2


class KafkaBus:
    """A bus at a Kafka broker. Topics that are missing are created where the broker allows it.

    The same key always goes to the same partition, so the messages of a key stay in order.
    """

    def __init__(
        self,
        settings: KafkaSettings,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.settings = settings
        self._clock = clock
        self._pause = pause
        _quieten_the_library()

    def publisher(self) -> KafkaPublisher:
        """A new, connected publisher. Raises BusUnavailableError when no broker answers."""
        return KafkaPublisher(self.settings, self._ensure_topics)

    def subscribe(self, topics: Sequence[Topic], start: Start) -> KafkaSubscription:
        """A new, connected subscription. Raises BusUnavailableError when no broker answers."""
        self._ensure_topics()
        return KafkaSubscription(self.settings, topics, start, self._clock)

    def join(
        self, group: str, topics: Sequence[Topic], from_the_beginning: Collection[Topic]
    ) -> KafkaMembership:
        """Become a member of a consumer group; the first poll that has a share may take seconds.

        Raises BusUnavailableError when no broker answers, BusAddressError when the topics differ
        in their number of partitions.
        """
        self._ensure_topics()
        return KafkaMembership(self.settings, group, topics, from_the_beginning, self._clock)

    def held(self, topic: Topic) -> Iterator[Message]:
        """Every message that the broker holds of a topic now. Raises BusUnavailableError."""
        subscription = self.subscribe([topic], Start.EARLIEST)
        try:
            while subscription.lag() != 0:
                yield from subscription.poll(_HELD_POLL_SECONDS)
        finally:
            subscription.close()

    def _ensure_topics(self) -> frozenset[str]:
        """Make the topics that are missing, and give their names."""
        require_broker(self.settings, self._clock, self._pause)
        try:
            admin = KafkaAdminClient(**self.settings.connection())
        except KafkaTimeoutError as error:
            raise no_entry(self.settings) from error
        except KafkaError as error:
            raise no_broker(self.settings, str(error)) from error
        try:
            return _create_missing(admin, self.settings)
        finally:
            admin.close()


def _create_missing(admin: KafkaAdminClient, settings: KafkaSettings) -> frozenset[str]:
    wanted = {topic.qualified(settings.prefix): topic for topic in Topic}
    try:
        missing = wanted.keys() - set(admin.list_topics())
        for name in sorted(missing):
            _create(admin, name, settings.topic_options(wanted[name]))
    except KafkaError as error:
        raise BusUnavailableError(
            f"the topics {', '.join(sorted(wanted))} cannot be made at {settings.described()}:"
            f" {error}: create them there with {settings.partitions} partitions each"
        ) from error
    return frozenset(missing)


def _create(admin: KafkaAdminClient, topic: str, options: dict[str, object]) -> None:
    try:
        admin.create_topics({topic: options}, wait_for_metadata=True)
    except TopicAlreadyExistsError:
        # Another process was faster, which is as good.
        logging.getLogger(__name__).debug("topic %s was created meanwhile", topic)


def _quieten_the_library() -> None:
    """kafka-python logs every failed attempt as an error, several a second; ours says it once.

    Somebody who has chosen a level for its logger keeps it.
    """
    library = logging.getLogger("kafka")
    if library.level == logging.NOTSET:
        library.setLevel(logging.CRITICAL)
