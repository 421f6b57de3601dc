"""What is particular to Kafka, against a real broker on a free port."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from kafka import KafkaAdminClient

from paramedic.ingest.bus.group import Claim, Mark, Membership
from paramedic.ingest.bus.kafka import KafkaBus
from paramedic.ingest.bus.kafka_settings import KafkaSettings
from paramedic.ingest.contract import BusUnavailableError, Start, Topic
from servers.arrivals import arrivals
from servers.kafka_broker import kafka_broker

pytestmark = pytest.mark.connected
HERE = Path(__file__).parent
PATIENCE_SECONDS = 60.0
"""The development broker takes 5 s for every forming of a group."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with kafka_broker(tmp_path_factory.mktemp("kafka")) as server:
        yield server


@pytest.fixture
def settings(server: str) -> KafkaSettings:
    return KafkaSettings((server,), prefix=f"test-{uuid.uuid4().hex[:12]}", partitions=4)


def publish(settings: KafkaSettings, keys: list[str]) -> None:
    publisher = KafkaBus(settings).publisher()
    for number, key in enumerate(keys):
        publisher.publish(Topic.TELEMETRY, key, str(number).encode())
    publisher.flush(PATIENCE_SECONDS)
    publisher.close()


def test_a_key_stays_in_one_partition_and_many_keys_use_several(settings: KafkaSettings) -> None:
    subscription = KafkaBus(settings).subscribe([Topic.TELEMETRY], Start.EARLIEST)
    keys = [f"job-{n % 20}/0" for n in range(200)]
    publish(settings, keys)
    publish(settings, keys)
    messages = arrivals(subscription, 400)
    subscription.close()
    partitions = {
        key: {message.partition for message in messages if message.key == key} for key in keys
    }
    assert all(len(found) == 1 for found in partitions.values())
    assert set.union(*partitions.values()) == {0, 1, 2, 3}


def test_buses_with_different_prefixes_do_not_meet(settings: KafkaSettings) -> None:
    other = replace(settings, prefix=f"{settings.prefix}-other")
    subscription = KafkaBus(other).subscribe([Topic.TELEMETRY], Start.EARLIEST)
    publish(settings, ["job/0"])
    publish(other, ["other/0"])
    assert [message.key for message in arrivals(subscription, 1)] == ["other/0"]
    subscription.close()


def test_topics_that_exist_are_used_as_they_are(settings: KafkaSettings) -> None:
    publish(settings, ["job/0"])
    subscription = KafkaBus(replace(settings, partitions=99)).subscribe(
        [Topic.TELEMETRY], Start.EARLIEST
    )
    assert len(arrivals(subscription, 1)) == 1
    subscription.close()


def test_a_member_whose_topic_was_made_anew_is_given_its_share_anew(
    settings: KafkaSettings,
) -> None:
    one = replace(settings, partitions=1)
    publish(one, ["job/0"] * 20)
    member = KafkaBus(one).join("g", [Topic.EVENTS, Topic.TELEMETRY], [Topic.EVENTS])
    assert delivered(member, 20) == [Claim(0, {}), *range(20)]
    assert member.commit({(0, Topic.TELEMETRY): Mark(15, 20)})
    admin = KafkaAdminClient(**one.connection())
    admin.delete_topics([Topic.TELEMETRY.qualified(one.prefix)])
    admin.close()
    publish(one, ["job/0"] * 3)
    assert delivered(member, 3) == [Claim(0, {}), 0, 1, 2]
    member.close()


def delivered(member: Membership, messages: int) -> list[Claim | int]:
    """Shares that are gained and offsets that are read, until there are so many messages."""
    found: list[Claim | int] = []
    deadline = time.monotonic() + PATIENCE_SECONDS
    while sum(isinstance(one, int) for one in found) < messages and time.monotonic() < deadline:
        delivery = member.poll(0.2)
        found += delivery.gained
        found += [one.offset for batch in delivery.messages.values() for one in batch]
    return found


def test_a_listener_that_does_not_speak_kafka_is_given_up_in_time() -> None:
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        address = f"127.0.0.1:{mute.getsockname()[1]}"
        started = time.monotonic()
        with pytest.raises(BusUnavailableError, match="no Kafka broker answers"):
            KafkaBus(KafkaSettings((address,), connect_seconds=0.5)).publisher()
        assert time.monotonic() - started < 3


def test_a_broker_that_goes_away_is_noticed_and_its_return_is_used(tmp_path: Path) -> None:
    # In a process of its own: for every attempt at a broker that is gone the library leaves an
    # unclosed socket to the garbage collector, which would fail whatever test runs then.
    outcome = subprocess.run(
        [sys.executable, str(HERE / "outlive_a_broker.py"), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    (notice,) = outcome.stderr.splitlines()
    assert notice.startswith("no Kafka broker answers at 127.0.0.1:")
    assert outcome.stdout.splitlines() == [
        "publisher: 1 messages are not acknowledged",
        "subscription: it went silent about paramedic.events.v1",
        "resets: 1",
        "read: while it is away",
        "read: after its return",
    ]
    assert outcome.returncode == 0
