"""A broker that says nothing is asked, and known to be away until it is heard again."""

from __future__ import annotations

import pytest
from kafka import TopicPartition
from kafka.errors import KafkaTimeoutError

from paramedic.ingest.bus.kafka_settings import KafkaSettings
from paramedic.ingest.bus.kafka_silence import KafkaSilence
from paramedic.ingest.contract import BusUnavailableError

PARTITION = TopicPartition("paramedic.events.v1", 0)


class Broker:
    """Answers questions, or does not."""

    def __init__(self) -> None:
        self.is_away = False
        self.now = 0.0
        self.silence = KafkaSilence(
            KafkaSettings(reconnect_seconds=30.0),
            self,
            lambda: self.now,
        )

    def end_offsets(self, partitions: list[TopicPartition], timeout_ms: int) -> None:
        if self.is_away:
            self.now += timeout_ms / 1000
            raise KafkaTimeoutError(str(partitions))

    def say_nothing(self, seconds: int) -> None:
        for _ in range(seconds):
            self.now += 1.0
            self.silence.watch(heard=False, partition=PARTITION)


def test_a_broker_that_has_nothing_to_say_is_there() -> None:
    broker = Broker()
    broker.say_nothing(3600)
    assert broker.silence.broker_answers


def test_a_broker_that_does_not_answer_is_away_until_it_is_asked_again() -> None:
    broker = Broker()
    broker.is_away = True
    broker.say_nothing(10)
    assert not broker.silence.broker_answers
    broker.is_away = False
    broker.say_nothing(5)
    assert broker.silence.broker_answers


def test_a_message_shows_that_the_broker_is_back() -> None:
    broker = Broker()
    broker.is_away = True
    broker.say_nothing(10)
    broker.silence.watch(heard=True, partition=PARTITION)
    assert broker.silence.broker_answers


def test_a_broker_that_stays_away_ends_the_wait() -> None:
    broker = Broker()
    broker.is_away = True
    with pytest.raises(BusUnavailableError, match="it went silent about paramedic"):
        broker.say_nothing(60)
