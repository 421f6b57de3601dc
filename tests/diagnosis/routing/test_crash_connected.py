"""kill -9 while evidence adds up: the verdicts come all the same, once, under the same ids.

Two groups read the same messages at one broker. One of them loses its member twice; the other is
left alone and says what is right.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from diagnosis import crowd, synthetic
from diagnosis.routing.storm import Sink, Storm, storm
from paramedic.diagnosis.contract import Fault, Verdict
from paramedic.ingest.batch.encode import encode
from paramedic.ingest.bus.kafka import KafkaBus
from paramedic.ingest.bus.kafka_settings import KafkaSettings
from paramedic.ingest.contract import JobName, Publisher, TelemetryBatch, Topic
from servers.kafka_broker import kafka_broker

_LOG = logging.getLogger(__name__)
PATIENCE_SECONDS = 90.0
BEGUN = 60
"""The second in which everything breaks."""
END = 200
SLOW, FROZEN, CARD, LOST = (JobName(name) for name in ("slow", "frozen", "card", "lost"))
WRONG = {
    SLOW: (Fault.STRAGGLER, synthetic.node_name(2)),
    FROZEN: (Fault.HANG, synthetic.node_name(1)),
    CARD: (None, crowd.name(5)),
    LOST: (Fault.TELEMETRY_LOST, crowd.name(3)),
}
"""What is wrong with whom; what a card has is not asked here."""


def streams() -> dict[JobName, Sequence[TelemetryBatch]]:
    """A slow rank, a stopped one, a GPU that does less, and a machine that falls silent."""
    ranks = {
        SLOW: synthetic.Scene(seconds=END, slow={2: 3.0}, slow_from=BEGUN),
        FROZEN: synthetic.Scene(seconds=END, frozen={1: BEGUN}),
    }
    less = tuple(
        crowd.Fault(node=5, gpu=1, factor=0.55, first=BEGUN, metric=metric)
        for metric in (crowd.TENSOR, crowd.POWER)
    )
    machines = {
        CARD: crowd.Crowd(seconds=END, faults=less),
        LOST: crowd.Crowd(seconds=END, absent={3: range(BEGUN, END)}),
    }
    scenes: dict[JobName, synthetic.Scene | crowd.Crowd] = {**ranks, **machines}
    return {
        job: [replace(batch, job=job) for batch in scene.batches()] for job, scene in scenes.items()
    }


class Stage:
    """One of the two groups, and who publishes to it and hears it."""

    def __init__(self, here: Storm) -> None:
        bus = KafkaBus(KafkaSettings((here.server,), here.prefix, partitions=4))
        self.storm = here
        self.publisher: Publisher = bus.publisher()
        self.sink: Sink = here.sink()
        self.member = here.member()

    def publish(self, seconds: range) -> None:
        for second in seconds:
            for job, batches in STREAMS.items():
                payload = encode(batches[second])
                self.publisher.publish(Topic.TELEMETRY, f"{job}/0", payload)
        self.publisher.flush(30.0)

    def crash(self) -> None:
        self.member.kill()
        self.member = self.storm.member()

    def wait_for(self, jobs: set[JobName]) -> None:
        self.sink.read_until(lambda: jobs <= self.accused(), PATIENCE_SECONDS)
        assert jobs <= self.accused(), self.member.log

    def accused(self) -> set[JobName]:
        return {verdict.job for verdict in self.sink.verdicts}

    def said(self) -> list[tuple[str, str]]:
        """Everything that was published, repeats included."""
        return sorted((verdict.id, verdict.status.value) for verdict in self.sink.verdicts)


STREAMS = streams()


@pytest.fixture
def open_stage(tmp_path: Path) -> Iterator[Callable[[str], Stage]]:
    with kafka_broker(tmp_path) as server, ExitStack() as stack:

        def opened(name: str) -> Stage:
            folder = tmp_path / name
            folder.mkdir()
            stage = Stage(stack.enter_context(storm(server, folder)))
            stack.callback(stage.publisher.close)
            return stage

        yield opened


@pytest.mark.connected
@pytest.mark.timeout(400)
def test_verdicts_come_once_and_under_the_same_ids_after_crashes(
    open_stage: Callable[[str], Stage],
) -> None:
    calm, hit = open_stage("calm"), open_stage("hit")
    for stage in (calm, hit):
        stage.publish(range(BEGUN + 2))
    stop_reading_when_up_to_date(hit)
    assert hit.accused() == set()  # evidence is there, and no verdict
    hit.crash()
    hit.publish(range(BEGUN + 2, BEGUN + 25))
    hit.wait_for({SLOW, FROZEN, CARD})
    assert LOST not in hit.accused()
    hit.crash()
    hit.publish(range(BEGUN + 25, END))
    calm.publish(range(BEGUN + 2, END))
    for stage in (calm, hit):
        stage.wait_for(set(WRONG))
        stage.sink.read(3.0)
    assert hit.said() == calm.said()
    assert len(hit.said()) == len(set(hit.said()))
    for verdict in hit.sink.verdicts:
        assert_right(verdict)
    _LOG.info("%s", [(v.job, v.fault.value, v.detected_at) for v in hit.sink.verdicts])


def stop_reading_when_up_to_date(stage: Stage) -> None:
    """Its member has shares and has had time to read what was published."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while "watching the shares" not in stage.member.log:
        assert time.monotonic() < deadline, stage.member.log
        time.sleep(0.2)
    stage.sink.read(4.0)


def assert_right(verdict: Verdict) -> None:
    fault, node = WRONG[verdict.job]
    assert verdict.node == node
    assert fault in (None, verdict.fault)
