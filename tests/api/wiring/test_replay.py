"""A replay says what the live run said: the same verdicts, in the same bytes, at any speed."""

from __future__ import annotations

import io
import json
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest

from diagnosis.synthetic import JOB, START, Scene, exit_of, job_state, node_name
from paramedic.api.settings.schema import Settings
from paramedic.api.wiring.replay import ReplayRequest, Time, detector_of, judged, replay
from paramedic.api.wiring.republish import in_shards
from paramedic.diagnosis.contract import Verdict
from paramedic.diagnosis.detector import DetectorConfig
from paramedic.diagnosis.ordering import StreamTime
from paramedic.ingest.batch.encode import encode
from paramedic.ingest.contract import (
    Entity,
    Event,
    Message,
    NodeName,
    Table,
    TelemetryBatch,
    Topic,
)
from paramedic.ingest.recordings.capturing import Capture
from paramedic.ingest.recordings.cutting import Stretch, cut
from paramedic.ingest.recordings.description import JobDescription, NodeRoles
from paramedic.ingest.recordings.moment import Moment
from paramedic.ingest.recordings.reading import open_recording
from paramedic.ingest.recordings.shelves import JobShelf
from paramedic.ingest.recordings.writing import RecordingWriter

pytestmark = pytest.mark.long


LATENESS = timedelta(seconds=3)
SLOW = Scene(ranks=4, seconds=100, slow={2: 2.0}, slow_from=40)
FROZEN = Scene(ranks=4, seconds=60, frozen={1: 30})
Facts = Sequence[TelemetryBatch | Event]


@dataclass
class Watch:
    """A clock that moves only when somebody sleeps."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def time(self) -> Time:
        return Time(lambda: self.now, self.sleep)


def recorded(folder: Path, scene: Scene, events: Sequence[Event] = ()) -> Path:
    """The scene as a recording without arrivals."""
    nodes = tuple(NodeRoles(node_name(rank), 0) for rank in range(scene.ranks))
    with RecordingWriter(folder, JobDescription(JOB, 1.0, nodes)) as writer:
        for batch in scene.batches():
            writer.append(batch)
        for event in events:
            writer.event(event)
    return folder


def captured(folder: Path, facts: Facts) -> Path:
    """The facts as a capture records them, one every fifth of a second."""
    shelf = JobShelf(folder, JOB, every_job=False, tell=lambda _line: None)
    capture = Capture(shelf, 0.0, lambda _line: None)
    for at, fact in enumerate(facts):
        is_event = isinstance(fact, Event)
        payload = fact.to_json() if isinstance(fact, Event) else encode(fact)
        topic = Topic.EVENTS if is_event else Topic.TELEMETRY
        capture.take(Message(topic, f"{JOB}/0", payload, offset=at), START + at / 5)
    shelf.close()
    return folder


def live(facts: Facts) -> list[Verdict]:
    """What the diagnosis process says to these messages in this order."""
    moments = [Moment(0, fact) for fact in facts]
    return list(judged(DetectorConfig().build(JOB), moments))


def replayed(folder: Path, speed: float = math.inf, watch: Watch | None = None) -> str:
    """Standard output of a replay."""
    out = io.StringIO()
    time = (watch or Watch()).time()
    replay(ReplayRequest(folder, speed), Settings(), out, io.StringIO(), time)
    return out.getvalue()


def test_a_recording_in_which_nothing_can_be_judged_says_so_in_one_line(tmp_path: Path) -> None:
    alone = recorded(tmp_path / "r", Scene(ranks=1, seconds=25), [job_state("training", 0)])
    out, err = io.StringIO(), io.StringIO()
    assert replay(ReplayRequest(alone), Settings(), out, err, Watch().time()) == 0
    why = "nothing could be judged: only node-0000 tells anything, so that it has no peers"
    assert out.getvalue() == ""
    assert err.getvalue().splitlines()[1:] == [f"paramedic: {why}"]


def lines_of(verdicts: Sequence[Verdict]) -> str:
    return "".join(f"{verdict.to_json().decode()}\n" for verdict in verdicts)


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(tmp_path_factory.mktemp("slow") / "r", SLOW, [job_state("training", 0)])


@pytest.fixture(scope="module")
def told(slow: Path) -> str:
    """What a replay of it prints."""
    return replayed(slow)


def test_it_says_what_the_live_run_said(told: str) -> None:
    verdicts = live([job_state("training", 0), *SLOW.batches()])
    assert [verdict.node for verdict in verdicts] == [node_name(2)]
    assert told == lines_of(verdicts)


def test_every_speed_says_the_same_and_takes_its_time(slow: Path, told: str) -> None:
    watch = Watch()
    assert replayed(slow, 10.0, watch) == told
    assert watch.now == pytest.approx(SLOW.seconds / 10)


def test_a_capture_of_batches_out_of_order_gives_what_they_gave_live(tmp_path: Path) -> None:
    """Late batches are late again: the order is that of arrival, and time that of the stream."""
    facts: list[TelemetryBatch | Event] = list(FROZEN.batches())
    rng = random.Random(3)
    for at in rng.sample(range(len(facts) - 9), 12):
        facts.insert(at + rng.randrange(2, 9), facts.pop(at))
    facts.insert(45, exit_of(1, 44.5))
    verdicts = live(facts)
    assert len(verdicts) >= 2
    assert replayed(captured(tmp_path / "r", facts)) == lines_of(verdicts)


@pytest.mark.parametrize("scene", [SLOW, FROZEN], ids=["slow", "frozen"])
def test_a_recording_that_is_cut_after_a_verdict_gives_the_same_verdict(
    scene: Scene, tmp_path: Path
) -> None:
    whole = recorded(tmp_path / "whole", scene)
    said = replayed(whole).splitlines()
    assert said
    for number, line in enumerate(said):
        end = Verdict.from_json(line.encode()).detected_at + LATENESS
        cut(whole, tmp_path / f"cut-{number}", Stretch(last=end), None)
        again = replayed(tmp_path / f"cut-{number}").splitlines()
        assert again[: number + 1] == said[: number + 1]


def test_slots_are_as_wide_as_the_recording_says(tmp_path: Path) -> None:
    folder = tmp_path / "r"
    nodes = (NodeRoles(NodeName("a"), 0),)
    for seconds, width in ((15.0, 15), (0.5, 1), (2.5, 3)):
        place = folder / str(width)
        with RecordingWriter(place, JobDescription(JOB, seconds, nodes)) as writer:
            writer.append(SLOW.batches()[0])
        detector = detector_of(open_recording(place), Settings())
        window = detector._windows._config
        assert window.sampling_seconds == width


def test_a_table_and_what_was_remarkable_go_to_standard_error(slow: Path) -> None:
    with (slow / "events.jsonl").open("a") as lines:
        lines.write('{"timestamp": "2026')
    out, err = io.StringIO(), io.StringIO()
    replay(ReplayRequest(slow, as_table=True), Settings(), out, err, Watch().time())
    assert out.getvalue() == ""
    remark, heading, row, summary = err.getvalue().splitlines()
    assert remark == "paramedic: events.jsonl: the last line is cut off and left out"
    assert heading.split() == ["detected", "at", "status", "fault", "where", "summary"]
    assert row.split()[1:5] == ["firing", "P1", "straggler", node_name(2)]
    assert summary.startswith("paramedic: 1 verdict in 100 s of synthetic; replayed in 0.0 s, ")


def test_names_in_a_table_steer_no_terminal(tmp_path: Path) -> None:
    evil = NodeName("a\x1b[31m\nb")
    folder = tmp_path / "r"
    nodes = tuple(NodeRoles(NodeName(f"n{at}") if at else evil, 0) for at in range(4))
    with RecordingWriter(folder, JobDescription(JOB, 1.0, nodes)) as writer:
        for batch in Scene(ranks=4, seconds=100, slow={0: 2.0}, slow_from=40).batches():
            named = (
                replace(
                    table, nodes=tuple(evil if one == node_name(0) else one for one in table.nodes)
                )
                for table in batch.tables
            )
            writer.append(replace(batch, tables=tuple(named)))
    err = io.StringIO()
    replay(ReplayRequest(folder, as_table=True), Settings(), io.StringIO(), err, Watch().time())
    assert "\x1b" not in err.getvalue()
    assert r"rank 0 on a\x1b[31m\nb computes" in err.getvalue()


def test_verdicts_are_counted_and_not_their_changes(tmp_path: Path) -> None:
    folder = recorded(tmp_path / "r", SLOW, [job_state("finished", 99)])
    err = io.StringIO()
    replay(ReplayRequest(folder), Settings(), io.StringIO(), err, Watch().time())
    assert "paramedic: 1 verdict (2 lines) in " in err.getvalue()


def test_progress_is_told_now_and_then(slow: Path) -> None:
    err = io.StringIO()
    replay(ReplayRequest(slow, 10.0), Settings(), io.StringIO(), err, Watch().time())
    told = [line for line in err.getvalue().splitlines() if "of 100 s replayed" in line]
    assert [line.split()[1] for line in told] == ["20", "40", "60", "80", "100"]


def test_verdicts_are_whole_objects_of_the_contract(told: str) -> None:
    (line,) = told.splitlines()
    assert json.loads(line) == Verdict.from_json(line.encode()).to_dict()


def test_a_large_job_is_published_in_its_shards() -> None:
    nodes = tuple(NodeName(f"node-{number:04d}") for number in range(1200))
    values = tuple(float(number) for number in range(1200))
    table = Table(Entity.GPU, nodes, tuple(range(1200)), {"m": values})
    parts = list(in_shards(TelemetryBatch(JOB, 2, START, (table,)), len(nodes)))
    assert [(part.shard, part.shards) for part in parts] == [(0, 3), (1, 3), (2, 3)]
    rows = [
        row
        for part in parts
        for one in part.tables
        for row in zip(one.nodes, one.indices or (), one.columns["m"], strict=True)
    ]
    assert sorted(rows) == sorted(zip(nodes, range(1200), values, strict=True))
    assert all(encode(part) for part in parts)


def test_stream_time_and_not_the_clock_is_what_is_judged_by(slow: Path) -> None:
    """The detector hears the end of the newest second, whatever `arrived` says."""
    stream, heard = StreamTime(), list[float]()

    class Listener:
        name = "listener"

        def accept(self, batch: TelemetryBatch, arrived_seconds: float) -> tuple[Verdict, ...]:
            heard.append(arrived_seconds - stream.see(batch))
            return ()

        def record(self, event: Event) -> tuple[Verdict, ...]:  # noqa: ARG002 (the port's signature)
            return ()

        def adopt(self, verdicts: Sequence[Verdict]) -> None:
            """Nothing was told before."""

    assert list(judged(Listener(), open_recording(slow).moments())) == []
    assert heard == [0.0] * SLOW.seconds
