"""Whoever dies, whenever: a successor goes on, nothing is lost and repeats are known as such."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnosis.playing import Fact, diagnose, merged
from diagnosis.routing.crew import Crew, accepted, sharded, told
from diagnosis.synthetic import JOB, START, Scene, exit_of, job_state, node_name
from paramedic.diagnosis.contract import Status
from paramedic.diagnosis.routing.ledger import SlotKey
from paramedic.diagnosis.routing.share_watch import RoutingConfig
from paramedic.ingest.bus.memory_group import MemoryGroupBus
from paramedic.ingest.contract import Event, Topic

pytestmark = pytest.mark.long


SECONDS = 56
few = settings(max_examples=settings().max_examples // 12)
moments = st.lists(st.integers(0, SECONDS), min_size=1, max_size=4)


@cache
def facts() -> tuple[Fact, ...]:
    """A rank that is slow from second 20 on, and one that ends."""
    scene = Scene(seconds=SECONDS, slow={2: 3.0}, slow_from=20)
    return tuple(merged(scene.batches(), [job_state("training", 0), exit_of(1, 46.5)]))


@cache
def shards() -> tuple[Fact, ...]:
    return tuple(
        part for fact in facts() for part in ([fact] if isinstance(fact, Event) else sharded(fact))
    )


@cache
def undisturbed(stream: Callable[[], tuple[Fact, ...]]) -> list[tuple[str, str]]:
    crew = Crew()
    crew.hire()
    play(crew, stream())
    assert len(crew.verdicts()) >= 2
    return told(crew.verdicts())


def play(crew: Crew, stream: tuple[Fact, ...], kill_at: dict[int, int] | None = None) -> None:
    """Publish second by second with a turn after each; `kill_at` gives lives at some seconds."""
    waiting = list(stream)
    for second in range(SECONDS + 1):
        now = START + second + 1
        due = [fact for fact in waiting if time_of(fact) <= now]
        waiting = waiting[len(due) :]
        crew.publish(due)
        for member in crew.members:
            if kill_at and second in kill_at:
                member.publisher.lives = kill_at[second]
        crew.turns(commits=second % 5 == 0)
    crew.turns(12)


def every_slot() -> list[SlotKey]:
    return [SlotKey(JOB, shard, START + n, 0) for n in range(SECONDS) for shard in (0, 1)]


def time_of(fact: Fact) -> float:
    return fact.timestamp.timestamp() if isinstance(fact, Event) else fact.second + 1.0


def test_a_group_decides_what_a_single_detector_decides() -> None:
    assert undisturbed(facts) == told(diagnose(facts()))


def test_the_shards_of_a_large_job_give_the_same_culprits() -> None:
    crew = Crew()
    crew.hire()
    play(crew, shards())
    assert {verdict.node for verdict in crew.verdicts()} == {node_name(1), node_name(2)}
    keys, repeated = accepted(crew.slots())
    assert keys == every_slot()
    assert repeated == 0


@few
@given(moments, st.integers(0, 3))
def test_members_that_die_at_any_moment_lose_no_verdict_and_invent_none(
    seconds: list[int], lives: int
) -> None:
    crew = Crew()
    crew.hire()
    play(crew, facts(), dict.fromkeys(seconds, lives))
    assert sorted(told(crew.verdicts())) == sorted(undisturbed(facts))


@few
@given(moments, st.integers(0, 6))
def test_members_that_die_at_any_moment_lose_no_slot_and_repeats_are_known(
    seconds: list[int], lives: int
) -> None:
    crew = Crew()
    crew.hire()
    crew.hire()
    play(crew, shards(), dict.fromkeys(seconds, lives))
    keys, repeated = accepted(crew.slots())
    assert keys == every_slot()
    assert repeated == len(crew.slots()) - 2 * SECONDS
    assert sorted(told(crew.verdicts())) == sorted(undisturbed(shards))


@few
@given(st.integers(0, SECONDS), st.integers(0, SECONDS))
def test_members_that_come_and_go_move_the_work_without_a_trace(joins: int, leaves: int) -> None:
    crew = Crew(MemoryGroupBus(partitions=2))
    first = crew.hire()
    waiting = list(shards())
    for second in range(SECONDS + 1):
        due = [fact for fact in waiting if time_of(fact) <= START + second + 1]
        waiting = waiting[len(due) :]
        crew.publish(due)
        if second == joins:
            crew.hire()
        if second == leaves and len(crew.members) > 1:
            crew.members.remove(first)
            first.membership.close()
        crew.turns()
    crew.turns(12)
    assert sorted(told(crew.verdicts())) == sorted(undisturbed(shards))


def test_a_verdict_older_than_the_rewind_keeps_its_id_to_its_end() -> None:
    scene = Scene(seconds=SECONDS, slow={2: 2.5}, slow_from=20)
    stream = tuple(
        merged(scene.batches(), [job_state("training", 0), job_state("finished", SECONDS - 1)])
    )
    crew = Crew(config=RoutingConfig(rewind_seconds=8.0))
    crew.hire()
    play(crew, stream, {50: 0})
    (fired, resolved) = crew.verdicts()
    assert (fired.status, resolved.status) == (Status.FIRING, Status.RESOLVED)
    assert fired.id == resolved.id


def test_after_an_orderly_end_nothing_is_told_twice() -> None:
    crew = Crew()
    member = crew.hire()
    play(crew, shards())
    before = len(crew.verdicts())
    crew.members.remove(member)
    member.membership.close()
    crew.hire()
    crew.turns(30)
    assert len(crew.verdicts()) == before


def test_a_successor_that_dies_while_it_reads_back_takes_nothing_back() -> None:
    """Its marks are never below those of its predecessor, and what is read does not grow."""
    crew = Crew(MemoryGroupBus(poll_limit=10), RoutingConfig(rewind_seconds=30.0))
    crew.hire()
    play(crew, facts())
    before = dict(crew.bus.marks["diagnose"])
    verdicts = len(crew.verdicts())
    for _ in range(5):
        crew.replace(crew.members[0])
        crew.turns(2)
    assert {at: mark.judged for at, mark in crew.bus.marks["diagnose"].items()} == {
        at: mark.judged for at, mark in before.items()
    }
    crew.turns(9)
    assert len(crew.verdicts()) == verdicts
    after = crew.bus.marks["diagnose"]
    assert all(after[at].needed >= mark.needed - 15 for at, mark in before.items())


def test_however_often_members_die_the_way_back_does_not_grow() -> None:
    crew = Crew(config=RoutingConfig(rewind_seconds=15.0))
    crew.hire()
    for number, batch in enumerate(Scene(seconds=SECONDS).batches()):
        crew.publish([batch])
        crew.turns()
        if number % 6 == 5:
            crew.replace(crew.members[0])
            crew.turns(2)
    share = crew.bus.share_of(f"{JOB}/0")
    assert crew.bus.marks["diagnose"][share, Topic.TELEMETRY].needed >= SECONDS - 15 - 12


def test_a_verdict_told_long_after_the_last_mark_is_not_taken_back_on_the_way_to_it() -> None:
    """Marks may be old: they are refused while the group moves on."""
    scene = Scene(seconds=75, slow={2: 3.0}, slow_from=45)
    crew = Crew()
    crew.hire()
    crew.publish([job_state("training", 0)])
    for number, batch in enumerate(scene.batches()):
        crew.publish([batch])
        crew.turns(commits=number < 5)
    assert len(crew.verdicts()) == 1
    crew.replace(crew.members[0])
    crew.turns(10)
    assert [status for _, status in told(crew.verdicts())] == ["firing"]


def test_an_exit_that_was_not_told_before_the_crash_is_told_by_the_successor() -> None:
    """Even when verdicts of a later time were."""
    crew = Crew()
    crew.hire()
    crew.publish([job_state("training", 0), *Scene(seconds=30).batches()])
    crew.turns(4)
    crew.publish([exit_of(1, 25.5), exit_of(3, 28.5)])
    crew.members[0].publisher.lives = 0
    publisher = crew.bus.publisher()
    (later,) = diagnose([exit_of(3, 28.5)])
    publisher.publish(Topic.VERDICTS, JOB, later.to_json())
    crew.turns(8)
    assert {verdict.node for verdict in crew.verdicts()} == {node_name(1), node_name(3)}
    assert len(told(crew.verdicts())) == 2
