"""One share: what is judged, put away, sent home, forgotten, and marked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diagnosis.routing.crew import Crew, sharded, told
from diagnosis.synthetic import JOB, Scene, event, exit_of, job_state, node_name
from paramedic.diagnosis.contract import Fault, Verdict
from paramedic.diagnosis.routing.share_watch import RoutingConfig
from paramedic.diagnosis.routing.told import read_told
from paramedic.ingest.batch.encode import encode
from paramedic.ingest.batch.json_form import write_json
from paramedic.ingest.bus.memory_group import MemoryGroupBus
from paramedic.ingest.contract import DeadLetter, EventKind, JobName, Topic


def crew_of_one(config: RoutingConfig | None = None) -> Crew:
    crew = Crew(config=config or RoutingConfig())
    crew.hire()
    return crew


def letters(bus: MemoryGroupBus) -> list[DeadLetter]:
    return [DeadLetter.from_json(message.payload) for message in bus.held(Topic.DEAD_LETTER)]


def test_poison_is_put_away_once_with_its_place_and_reason() -> None:
    crew = crew_of_one()
    publisher = crew.bus.publisher()
    for topic in (Topic.TELEMETRY, Topic.EVENTS, Topic.SLOTS):
        publisher.publish(topic, f"{JOB}/0", b"nonsense")
    crew.publish([exit_of(1, 15.5)])
    crew.turns(3)
    crew.replace(crew.members[0])
    crew.turns(3)
    assert {letter.topic for letter in letters(crew.bus)} == {
        Topic.TELEMETRY,
        Topic.EVENTS,
        Topic.SLOTS,
    }
    assert len(letters(crew.bus)) == 3, "what was put away is not put away again"
    assert all(letter.reason for letter in letters(crew.bus))
    assert [verdict.fault for verdict in crew.verdicts()] == [Fault.PROCESS_EXIT]


def test_messages_under_a_strange_key_find_the_rest_of_their_job() -> None:
    crew = crew_of_one()
    crew.hire()
    publisher = crew.bus.publisher()
    for fact in [job_state("training", 0), exit_of(1, 25.5)]:
        publisher.publish(Topic.EVENTS, "", fact.to_json())
    for batch in Scene(seconds=30, frozen={2: 5}).batches():
        publisher.publish(Topic.TELEMETRY, "somewhere", encode(batch))
    crew.turns(10)
    home = crew.bus.share_of(f"{JOB}/0")
    assert {verdict.node for verdict in crew.verdicts()} == {node_name(1), node_name(2)}
    assert sum(member.counts["sent_home"] for member in crew.members) == 32
    sent = [m for m in crew.bus.held(Topic.TELEMETRY) if m.key == f"{JOB}/0"]
    assert {message.partition for message in sent} == {home}


def test_json_batches_are_judged_as_the_binary_ones_are() -> None:
    binary, as_json = crew_of_one(), crew_of_one()
    batches = Scene(seconds=30, frozen={2: 5}).batches()
    binary.publish(batches)
    publisher = as_json.bus.publisher()
    for batch in batches:
        publisher.publish(Topic.TELEMETRY, f"{JOB}/0", write_json(batch))
    for crew in (binary, as_json):
        crew.turns(3)
    assert told(as_json.verdicts()) == told(binary.verdicts())
    assert told(binary.verdicts())


def test_shard_0_of_a_writer_that_does_not_count_shards_is_aligned_once_others_are_seen() -> None:
    crew = crew_of_one()
    for batch in Scene(seconds=30, slow={2: 3.0}).batches():
        crew.publish(replace(part, shards=max(1, part.shard + 1)) for part in sharded(batch))
        crew.turns()
    shards = {slot.shard for slot in crew.slots()}
    assert shards == {0, 1}


@pytest.mark.long
def test_a_shard_that_falls_behind_does_not_look_silent() -> None:
    crew = crew_of_one()
    parts = [sharded(batch) for batch in Scene(seconds=60).batches()]
    for early in parts[:30]:
        crew.publish(early)
        crew.turns()
    for late in parts[30:]:
        crew.publish(part for part in late if part.shard == 0)
        crew.turns()
    for late in parts[30:]:
        crew.publish(part for part in late if part.shard == 1)
    crew.turns(20)
    assert crew.verdicts() == []


def test_a_job_that_is_silent_for_long_is_forgotten() -> None:
    crew = crew_of_one(RoutingConfig(idle_seconds=100.0))
    crew.publish(part for batch in Scene(seconds=10).batches() for part in sharded(batch))
    crew.publish([replace(job_state("training", 0), job=JobName("other"))])
    crew.turns(15)
    assert crew.members[0].session.report().jobs == 2
    crew.turns(120)
    assert crew.members[0].session.report().jobs == 0


def test_rows_that_come_late_are_counted_beyond_the_life_of_their_job() -> None:
    crew = crew_of_one(RoutingConfig(idle_seconds=100.0))
    batches = list(Scene(ranks=4, seconds=20).batches())
    crew.publish([*batches, batches[5]])
    crew.turns(3)
    rows = sum(len(table.nodes) for table in batches[5].tables)
    assert crew.members[0].counts["rows_late"] == rows
    crew.turns(120)
    report = crew.members[0].session.report()
    assert (report.jobs, report.counts["rows_late"]) == (0, rows)


def test_marks_follow_what_is_needed_and_what_is_done() -> None:
    crew = crew_of_one(RoutingConfig(rewind_seconds=20.0))
    for batch in Scene(seconds=60).batches():
        crew.publish([batch])
        crew.turns()
    share = crew.bus.share_of(f"{JOB}/0")
    mark = crew.bus.marks["diagnose"][share, Topic.TELEMETRY]
    assert mark.judged == 60
    assert 60 - 20 - 12 <= mark.needed <= 60 - 20


def test_a_slow_source_needs_more_of_the_past() -> None:
    crew = crew_of_one(RoutingConfig(rewind_seconds=20.0))
    state = job_state("training", 0)
    crew.publish([replace(state, details={**state.details, "sampling_seconds": 5.0})])
    for batch in Scene(seconds=60).batches():
        crew.publish([batch])
        crew.turns()
    share = crew.bus.share_of(f"{JOB}/0")
    assert crew.bus.marks["diagnose"][share, Topic.TELEMETRY].needed <= 60 - 20 - 4 * 5


def test_a_report_says_how_it_is() -> None:
    crew = crew_of_one()
    crew.publish(part for batch in Scene(seconds=20).batches() for part in sharded(batch))
    crew.turns(10)
    report = crew.members[0].session.report()
    assert (report.shares, report.shares_catching_up, report.jobs) == (4, 0, 1)
    assert set(report.lag_messages.values()) == {0}
    assert report.counts["slots_published"] == report.counts["slots_accepted"] > 30
    assert report.counts["shares_gained"] == 4
    assert b'"slots_accepted"' in report.to_json()


def verdicts_told(bus: MemoryGroupBus) -> list[Verdict]:
    return [verdict for found in read_told(bus).values() for verdict in found.open]


def test_open_is_what_was_said_last_unless_it_was_resolved() -> None:
    """The clocks of two nodes do not tell which of them was the first to end."""
    crew = crew_of_one()
    crew.publish([job_state("training", 0), exit_of(1, 15.5), exit_of(2, 16.25)])
    crew.turns(2)
    publisher = crew.bus.publisher()
    publisher.publish(Topic.VERDICTS, JOB, b"no verdict at all")
    (one, other) = sorted(verdicts_told(crew.bus), key=lambda verdict: verdict.node or "")
    assert (one.node, other.node) == (node_name(1), node_name(2))
    crew.publish([event(EventKind.JOB_STATE, 20.0, state="finished", result="finished")])
    crew.turns(2)
    publisher.publish(Topic.VERDICTS, JOB, one.to_json())  # a repeat after the end
    assert verdicts_told(crew.bus) == []
