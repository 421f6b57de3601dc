"""Topics that a group cannot share are told before anybody joins."""

from __future__ import annotations

import pytest

from paramedic.ingest.bus.kafka import KafkaBus
from paramedic.ingest.bus.kafka_settings import KafkaSettings
from paramedic.ingest.contract import BusAddressError, Topic
from servers.scripted_kafka import scripted_kafka


def test_topics_with_different_partitions_are_named_with_what_to_do() -> None:
    with scripted_kafka() as broker:
        broker.topics["paramedic.telemetry.v1"] = 3
        settings = KafkaSettings((f"127.0.0.1:{broker.address[1]}",), partitions=2)
        with pytest.raises(BusAddressError) as caught:
            KafkaBus(settings).join("g", [Topic.EVENTS, Topic.TELEMETRY], [Topic.EVENTS])
    said = str(caught.value)
    assert "paramedic.events.v1 has 2, paramedic.telemetry.v1 has 3" in said
    assert said.endswith("or let one process read everything (kafka.group = off)")
