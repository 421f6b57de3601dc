"""What comes over a bus is in the recording, in the order in which it came."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ingest.recordings.recorded import (
    JOB,
    START,
    batch,
    event,
    moments_of,
)
from paramedic.ingest.agent.clock import FakeClock
from paramedic.ingest.batch.encode import encode
from paramedic.ingest.batch.json_form import write_json
from paramedic.ingest.bus.memory import MemoryBus
from paramedic.ingest.contract import (
    Entity,
    Event,
    EventKind,
    JobName,
    Message,
    Start,
    Subscription,
    TelemetryBatch,
    Topic,
)
from paramedic.ingest.recordings.capturing import Capture, CaptureConfig, CapturePorts, run
from paramedic.ingest.recordings.reading import open_recording
from paramedic.ingest.recordings.shelves import JobShelf

OTHER = JobName("gpt")


@dataclass
class Studio:
    """A capture without a bus: messages are handed over one by one."""

    folder: Path
    job: JobName | None = None
    every_job: bool = False
    since: float = 0.0
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        shelf = JobShelf(self.folder, self.job, every_job=self.every_job, tell=self.lines.append)
        self.shelf = shelf
        self.capture = Capture(shelf, self.since, self.lines.append)

    def hear(self, *facts: TelemetryBatch | Event, at: float = 0.0) -> None:
        for fact in facts:
            self.capture.take(message_of(fact), START + at)

    def read(self, folder: str = "") -> list[TelemetryBatch | Event]:
        self.shelf.close()
        return [one.fact for one in moments_of(self.folder / folder)]


def message_of(fact: TelemetryBatch | Event) -> Message:
    if isinstance(fact, Event):
        return Message(Topic.EVENTS, f"{fact.job}/0", fact.to_json(), offset=0)
    return Message(Topic.TELEMETRY, f"{fact.job}/0", encode(fact), offset=0)


def names(facts: Sequence[TelemetryBatch | Event]) -> list[object]:
    """Batches by their second, events by their kind."""
    return [f.kind.value if isinstance(f, Event) else f.second - START for f in facts]


def test_everything_is_read_in_the_order_it_came_in(tmp_path: Path) -> None:
    studio = Studio(tmp_path / "r")
    studio.hear(batch(0, {"a": 1.0}), at=1.1)
    studio.hear(event(0.5, EventKind.XID, node="a"), batch(2, {"a": 1.0}), at=3.1)
    studio.hear(batch(1, {"a": 1.0}), event(3.0), at=3.1)
    assert names(studio.read()) == [0, "xid", 2, 1, "maintenance"]


def test_a_batch_keeps_its_values_generation_and_arrival(tmp_path: Path) -> None:
    studio = Studio(tmp_path / "r")
    original = batch(4, {"a": 0.1, "b": 2.5}, "loss", Entity.RANK, generation=3)
    studio.hear(original, at=5.25)
    studio.shelf.close()
    (moment,) = moments_of(tmp_path / "r")
    assert moment.arrived == (START + 5) * 1_000_000 + 250_000
    assert isinstance(moment.fact, TelemetryBatch)
    assert (moment.fact.generation, moment.fact.second) == (3, START + 4)
    assert moment.fact.tables[0].columns["loss"].tolist() == [0.1, 2.5]  # type: ignore[attr-defined]


def test_a_batch_in_json_is_recorded_as_its_binary_form_is(tmp_path: Path) -> None:
    binary, told = Studio(tmp_path / "b"), Studio(tmp_path / "j")
    said = batch(5, {"a": 2.5, "b": 3.5}, generation=2)
    binary.hear(said, at=8.0)
    told.capture.take(Message(Topic.TELEMETRY, f"{JOB}/0", write_json(said), offset=0), START + 8.0)
    assert (told.lines, told.capture.unreadable) == ([], 0)
    assert told.read() == binary.read()


def test_gpu_rows_keep_the_generation_that_they_came_with(tmp_path: Path) -> None:
    studio = Studio(tmp_path / "r")
    studio.hear(batch(0, {"a": 1.0}, "gpu_power_watts", Entity.GPU, generation=0))
    studio.hear(batch(1, {"a": 1.0}, "gpu_power_watts", Entity.GPU, generation=2))
    assert [f.generation for f in studio.read()] == [0, 2]


def test_the_first_job_with_telemetry_is_recorded_and_others_are_told_once(tmp_path: Path) -> None:
    studio = Studio(tmp_path / "r")
    studio.hear(event(0, job=OTHER), batch(0, {"a": 1.0}))
    studio.hear(*(batch(second, {"x": 1.0}, job=OTHER) for second in range(3)))
    assert [fact.job for fact in studio.read()] == [JOB]
    assert studio.lines == [
        "job gpt is there too and is not recorded: --job gpt records it alone, --every-job all"
    ]


def test_a_job_that_is_named_is_recorded_whatever_comes_first(tmp_path: Path) -> None:
    studio = Studio(tmp_path / "r", job=OTHER)
    studio.hear(batch(0, {"a": 1.0}), batch(0, {"x": 1.0}, job=OTHER))
    assert [fact.job for fact in studio.read()] == [OTHER]


def test_every_job_has_a_folder_of_its_own(tmp_path: Path) -> None:
    odd = JobName("team/..")
    studio = Studio(tmp_path, every_job=True)
    studio.hear(batch(0, {"a": 1.0}), batch(0, {"x": 1.0}, job=odd))
    assert studio.read(JOB)[0].job == JOB
    assert studio.read("team%2F..")[0].job == odd


def test_events_before_the_first_telemetry_are_kept_for_the_recording(tmp_path: Path) -> None:
    studio = Studio(tmp_path / "r")
    joined = event(0, EventKind.MEMBERSHIP, node="a", change="joined", gpus=8, rack="r1")
    starting = event(0, EventKind.JOB_STATE, state="starting", sampling_seconds=5)
    studio.hear(starting, joined, at=0.2)
    studio.hear(batch(0, {"a": 1.0}), at=1.1)
    assert names(studio.read()) == ["job_state", "membership", 0]
    job = open_recording(tmp_path / "r").job
    assert (job.sampling_seconds, job.nodes[0].rack, job.nodes[0].gpus) == (5.0, "r1", 8)


def test_of_the_past_only_what_the_job_was_doing_is_recorded(tmp_path: Path) -> None:
    studio = Studio(tmp_path / "r", since=START + 50.0)
    past = [
        event(0, EventKind.JOB_STATE, state="starting"),
        event(0, EventKind.MEMBERSHIP, node="a", change="joined", gpus=8),
        event(9, EventKind.JOB_STATE, state="training"),
    ]
    studio.hear(*past, at=100)
    studio.hear(batch(100, {"a": 1.0}), at=101)
    first, *rest = studio.read()
    assert isinstance(first, Event)
    assert first.details["state"] == "training"
    assert names(rest) == [100]
    assert open_recording(tmp_path / "r").job.nodes[0].gpus == 8


def test_an_event_that_comes_again_is_recorded_once(tmp_path: Path) -> None:
    studio = Studio(tmp_path / "r")
    studio.hear(batch(0, {"a": 1.0}), event(1), event(1), event(2))
    assert names(studio.read()).count("maintenance") == 2


def test_a_message_that_cannot_be_read_is_told_once_and_counted(tmp_path: Path) -> None:
    studio = Studio(tmp_path / "r")
    for topic in (Topic.TELEMETRY, Topic.EVENTS):
        studio.capture.take(Message(topic, "k", b"nonsense", offset=7), START)
    assert studio.capture.unreadable == 2
    assert len(studio.lines) == 1
    assert studio.lines[0].startswith("telemetry.v1, offset 7: telemetry batch: starts with")


class Script:
    """A bus on which something happens whenever it is polled for telemetry."""

    def __init__(self, clock: FakeClock, *acts: Callable[[MemoryBus], None]) -> None:
        self.bus = MemoryBus()
        self._clock = clock
        self._acts = list(acts)
        self.subscribed: list[tuple[Topic, Start]] = []

    def publisher(self) -> object:
        return self.bus.publisher()

    def subscribe(self, topics: Sequence[Topic], start: Start) -> Subscription:
        self.subscribed.append((topics[0], start))
        self.pass_time()
        return _Scripted(self, self.bus.subscribe(topics, start), topics[0])

    def pass_time(self) -> None:
        self._clock.pass_time(1.0)
        if self._acts:
            self._acts.pop(0)(self.bus)


class _Scripted:
    def __init__(self, script: Script, inner: Subscription, topic: Topic) -> None:
        self._script, self._inner, self._topic = script, inner, topic

    def poll(self, timeout_seconds: float) -> Sequence[Message]:
        if self._topic is Topic.TELEMETRY and timeout_seconds:
            self._script.pass_time()
        return self._inner.poll(0.0)

    def close(self) -> None:
        self._inner.close()


def publish(*facts: TelemetryBatch | Event) -> Callable[[MemoryBus], None]:
    def act(bus: MemoryBus) -> None:
        for fact in facts:
            message = message_of(fact)
            bus.publisher().publish(message.topic, message.key, message.payload)

    return act


class NeverWaits(threading.Event):
    def wait(self, timeout: float | None = None) -> bool:  # noqa: ARG002 (the port's signature)
        return self.is_set()


@dataclass
class Recorded:
    facts: list[TelemetryBatch | Event]
    lines: list[str]
    script: Script


def record(folder: Path, seconds: float, *acts: Callable[[MemoryBus], None]) -> Recorded:
    clock, lines = FakeClock(START), list[str]()
    script = Script(clock, *acts)
    shelf = JobShelf(folder, None, every_job=False, tell=lines.append)
    ports = CapturePorts(script, clock, lines.append, lambda _line: None)  # type: ignore[arg-type]
    run(CaptureConfig(seconds=seconds), ports, shelf, NeverWaits())
    return Recorded([one.fact for one in moments_of(folder)], lines, script)


def nothing(bus: MemoryBus) -> None:
    """Time passes."""


def test_events_are_read_from_the_beginning_and_telemetry_from_now(tmp_path: Path) -> None:
    early = publish(batch(0, {"a": 1.0}), event(0, EventKind.JOB_STATE, state="training"))
    done = record(tmp_path / "r", 6, early, nothing, publish(batch(1, {"a": 1.0})))
    assert names(done.facts) == ["job_state", 1]
    assert done.script.subscribed == [
        (Topic.TELEMETRY, Start.LATEST), (Topic.EVENTS, Start.EARLIEST)
    ]  # fmt: skip


def test_a_bus_that_goes_away_is_waited_for(tmp_path: Path) -> None:
    done = record(
        tmp_path / "r",
        12,
        lambda bus: bus.fail("no route"),
        nothing,
        lambda bus: bus.heal(),
        nothing,
        publish(batch(0, {"a": 1.0}), event(0.5)),
        lambda bus: bus.fail("no route"),
        lambda bus: bus.heal(),
        nothing,
        publish(batch(5, {"a": 1.0})),
    )
    assert names(done.facts) == ["maintenance", 0, 5]
    away = "the in-memory bus is unavailable: no route; waiting for it"
    assert done.lines == [away, "the bus is back", away, "the bus is back"]


def test_what_is_on_the_bus_when_the_end_comes_is_recorded(tmp_path: Path) -> None:
    done = record(tmp_path / "r", 3, nothing, nothing, publish(batch(0, {"a": 1.0})))
    assert names(done.facts) == [0]


def test_nothing_is_held_back_for_longer_than_the_flush_interval(tmp_path: Path) -> None:
    seen: list[bool] = []

    def look(_bus: MemoryBus) -> None:
        seen.append((tmp_path / "r/parts/node-000000.parquet").exists())

    record(tmp_path / "r", 20, nothing, nothing, publish(batch(0, {"a": 1.0})), *[look] * 12)
    assert seen.index(True) <= 10


@pytest.mark.parametrize("is_begun", [False, True])
def test_a_folder_that_cannot_be_written_costs_what_comes_meanwhile(
    tmp_path: Path, is_begun: bool
) -> None:
    (tmp_path / "f").write_text("in the way")
    studio = Studio(tmp_path / "f" / "r")
    studio.hear(batch(0, {"a": 1.0}), batch(1, {"a": 1.0}))
    assert studio.capture.refused == 2
    assert len(studio.lines) == 1
    if is_begun:
        (tmp_path / "f").unlink()
        studio.hear(batch(2, {"a": 1.0}))
        assert names(studio.read()) == [2]
