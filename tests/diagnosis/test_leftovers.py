"""What is over accuses nobody: late rows, ended generations, nodes that have left, ended jobs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnosis.playing import Fact, arrival, diagnose, firing, merged
from diagnosis.synthetic import (
    JOB,
    START,
    Scene,
    event,
    exit_of,
    job_state,
    node_name,
    without_rows,
)
from paramedic.diagnosis.contract import Fault, Status, Verdict
from paramedic.ingest.contract import Entity, Event, EventKind, Table, TelemetryBatch

pytestmark = pytest.mark.long


SLOW, SPARE = 1, 4
SLOW_FROM, ENDED_AT, TRAINS_AT = 30, 46.2, 47.4


def before(**changes: object) -> list[TelemetryBatch]:
    scene = replace(Scene(seconds=48, slow={SLOW: 2.0}, slow_from=SLOW_FROM), **changes)  # type: ignore[arg-type]
    return scene.batches()


def after(generation: int = 1, seconds: int = 40) -> list[TelemetryBatch]:
    carried = {SLOW: SPARE}
    scene = Scene(
        seconds=seconds, generation=generation, nodes=carried, first_second=START + 47, seed=9
    )
    return scene.batches()


def replacement(generation: int = 1) -> list[Event]:
    """A slow rank is named, ended on purpose and replaced, as the local launcher does it."""
    return [
        job_state("starting", 0),
        job_state("training", 2),
        exit_of(SLOW, ENDED_AT, expected=True),
        job_state("recovering", ENDED_AT + 0.01),
        event(
            EventKind.MEMBERSHIP, ENDED_AT + 0.02, node_name(SLOW), SLOW, generation,
            change="replaced_by", by=node_name(SPARE),
        ),
        job_state("training", TRAINS_AT, generation),
    ]  # fmt: skip


def statuses(verdicts: list[Verdict]) -> list[Status]:
    return [verdict.status for verdict in verdicts]


def still_open(verdicts: list[Verdict]) -> set[str]:
    newest = {verdict.id: verdict for verdict in verdicts}
    return {id_ for id_, verdict in newest.items() if verdict.status is not Status.RESOLVED}


def held_up(facts: list[Fact], delays: list[int]) -> list[Fact]:
    """The batches of generation 0 come late by so many seconds, one after the other."""
    keyed = []
    for at, fact in enumerate(facts):
        old = isinstance(fact, TelemetryBatch) and fact.generation == 0
        keyed.append((arrival(fact) + (delays[at % len(delays)] if old else 0), at))
    return [facts[at] for _, at in sorted(keyed)]


def test_a_slow_rank_that_was_replaced_is_accused_once() -> None:
    """Slots of generation 0 close after the recovery, and the old trail stands at its level."""
    fired, resolved = diagnose(merged([*before(), *after()], replacement()))
    assert (fired.fault, fired.node) == (Fault.STRAGGLER, node_name(SLOW))
    assert (resolved.id, resolved.status) == (fired.id, Status.RESOLVED)
    assert resolved.detected_at.timestamp() == START + TRAINS_AT


@settings(max_examples=3, deadline=None)
@given(st.lists(st.integers(0, 12), min_size=1, max_size=7))
def test_however_late_the_old_generation_comes_nothing_stays_open(delays: list[int]) -> None:
    said = diagnose(held_up(merged([*before(), *after()], replacement()), delays))
    assert still_open(said) == set()
    assert {verdict.node for verdict in said} <= {node_name(SLOW)}
    assert all(v.detected_at.timestamp() <= START + ENDED_AT for v in firing(said))


def test_a_job_that_starts_again_in_the_same_generation_has_no_leftovers_either() -> None:
    fired, resolved = diagnose(merged([*before(), *after(generation=0)], replacement(0)))
    assert (fired.node, resolved.id) == (node_name(SLOW), fired.id)
    assert resolved.status is Status.RESOLVED


def test_evidence_does_not_add_up_over_a_restart_in_the_same_generation() -> None:
    """Slow for five seconds before and five after: neither is enough by itself."""
    scene = Scene(seconds=100, slow={SLOW: 2.0}, slow_from=31, slow_until=50, seed=2)
    pause = [job_state("training", 0), job_state("recovering", 36), job_state("training", 37)]
    assert diagnose(merged(scene.batches(), pause)) == []


def test_a_survivor_that_stays_slow_is_open_until_it_is_well() -> None:
    first = Scene(seconds=48, slow={3: 2.0}, slow_from=SLOW_FROM).batches()
    second = Scene(
        seconds=110, generation=1, nodes={SLOW: SPARE}, first_second=START + 47, slow={3: 2.0},
        slow_from=0, slow_until=20,
    ).batches()  # fmt: skip
    fired, resolved = diagnose(merged([*first, *second], replacement()))
    assert (fired.node, resolved.id) == (node_name(3), fired.id)
    assert resolved.detected_at.timestamp() > START + 47 + 20


def test_a_survivor_that_carries_another_rank_now_can_become_well() -> None:
    first = Scene(seconds=48, slow={3: 2.0}, slow_from=SLOW_FROM).batches()
    second = Scene(
        ranks=3, seconds=80, generation=1, nodes={1: 3}, first_second=START + 47
    ).batches()
    left = event(EventKind.MEMBERSHIP, ENDED_AT, node_name(1), 1, 0, change="left")
    states = [job_state("recovering", 46), job_state("training", TRAINS_AT, 1)]
    said = diagnose(merged([*first, *second], [left, *states]))
    assert {verdict.node for verdict in said} == {node_name(3)}
    assert statuses(said) == [Status.FIRING, Status.RESOLVED]


def test_ranks_that_a_node_has_given_up_are_not_missed() -> None:
    """After a shrink nobody beats for the highest rank, though its node is there and waits."""
    first = Scene(seconds=48).batches()
    shrunk = Scene(ranks=3, seconds=60, generation=1, nodes={1: 3}, first_second=START + 47)
    idle = [replace(batch, tables=(_idle(batch), *batch.tables[1:])) for batch in shrunk.batches()]
    left = event(EventKind.MEMBERSHIP, ENDED_AT, node_name(1), 1, 0, change="left")
    assert diagnose(merged([*first, *idle], [left, job_state("training", TRAINS_AT, 1)])) == []


def _idle(batch: TelemetryBatch) -> Table:
    node = batch.tables[0]
    return replace(node, columns={**node.columns, "cpu_utilization_ratio": (0.0,) * 3})


@pytest.mark.parametrize("expected", [True, False])
def test_a_rank_that_froze_and_was_ended_is_not_missed_afterwards(expected: bool) -> None:
    stuck = Scene(seconds=48, frozen={SLOW: 33}).batches()
    events = replacement()
    events[2] = exit_of(SLOW, ENDED_AT, expected=expected)
    said = diagnose([*merged([*stuck, *after()], events), *stuck[36:44]])
    exits = [] if expected else [Fault.PROCESS_EXIT]
    assert [v.fault for v in firing(said)] == [Fault.HANG, *exits]
    assert still_open(said) == set()


def test_a_newcomer_that_says_nothing_in_its_first_seconds_is_not_missed() -> None:
    """It loads the state: no heart-beat, no CPU, no row at all for a while."""
    newcomer = after(seconds=40)
    for entity in Entity:
        newcomer = without_rows(newcomer, entity, node_name(SPARE), range(47, 75))
    said = diagnose(merged([*before(slow={}), *newcomer], replacement()))
    assert said == []


def test_a_spare_that_waits_and_leaves_is_never_accused() -> None:
    spare = node_name(SPARE)
    idle = [_with_spare(batch, cpu=0.0) for batch in Scene(seconds=60).batches()]
    gone = without_rows(idle, Entity.NODE, spare, range(20, 60))
    assert diagnose(merged(gone, [event(EventKind.PROCESS_EXIT, 20, spare, None, signal=9)])) == []
    assert diagnose(merged(gone)) == []


def _with_spare(batch: TelemetryBatch, cpu: float) -> TelemetryBatch:
    node, ranks = batch.tables
    added = {"process_stopped": 0.0, "cpu_utilization_ratio": cpu}
    columns = {m: (*column, added.get(m, 1.0)) for m, column in node.columns.items()}
    return replace(
        batch, tables=(replace(node, nodes=(*node.nodes, node_name(SPARE)), columns=columns), ranks)
    )


def test_an_exit_that_is_told_after_the_recovery_is_no_news() -> None:
    facts = merged([*before(slow={}), *after()], replacement())
    exit_ = exit_of(SLOW, ENDED_AT)
    assert diagnose([*facts, exit_]) == []
    again = replacement()
    again[2] = exit_
    twice = [*merged([*before(slow={}), *after()], again), exit_]
    assert statuses(diagnose(twice)) == [Status.FIRING, Status.RESOLVED]


def test_an_exit_in_the_generation_that_trains_is_news() -> None:
    exit_ = exit_of(SPARE, 86, generation=1)
    (verdict,) = diagnose([*merged([*before(slow={}), *after()], replacement()), exit_])
    assert verdict.node == node_name(SPARE)


def test_a_node_that_is_said_to_have_left_after_the_job_trains_again_is_resolved() -> None:
    events = replacement()
    left = events.pop(4)
    del events[2]
    facts = [*merged([*before(), *after()], events), left]
    fired, resolved = diagnose(facts)
    assert (fired.id, resolved.status) == (resolved.id, Status.RESOLVED)


@pytest.mark.parametrize("late", [0.0, 5.0])
def test_after_the_end_nothing_is_said_whatever_comes(late: float) -> None:
    finished = [job_state("training", 0), job_state("finished", 40)]
    facts = merged(Scene(seconds=41).batches(), finished)
    stuck = Scene(seconds=90, frozen={2: 40}, slow={1: 3.0}, slow_from=20).batches()[41:]
    exits = [exit_of(rank, 41 + late + rank) for rank in range(4)]
    assert diagnose([*facts, *merged(stuck, exits)]) == []


@given(st.permutations(replacement()))
@settings(max_examples=15, deadline=None)
def test_the_order_of_the_events_leaves_nothing_open(events: list[Event]) -> None:
    dead = exit_of(SLOW, ENDED_AT)
    events = [dead if one.kind is EventKind.PROCESS_EXIT else one for one in events]
    said = diagnose(events)
    assert still_open(said) == set()
    assert {verdict.job for verdict in said} <= {JOB}


def second_run(at: int) -> list[Fact]:
    """The same job name, nodes and generation again, this time with a slow rank."""
    later = Scene(seconds=50, first_second=START + at, slow={2: 2.0}, slow_from=30).batches()
    return merged(later, [job_state("starting", at - 1), job_state("training", at)])


@pytest.mark.parametrize("ended", [True, False], ids=["finished", "killed"])
def test_a_later_run_under_the_same_name_begins_anew(ended: bool) -> None:
    first = merged([*before(slow={}), *after()], replacement())
    end = [job_state("finished", 90, 1)] if ended else []
    (verdict,) = firing(diagnose([*first, *end, *second_run(100)]))
    assert (verdict.node, verdict.generation) == (node_name(2), 0)


def test_what_was_open_in_a_run_that_was_killed_is_resolved_by_the_next() -> None:
    first = merged([*before(slow={}), *after()], [*replacement(), exit_of(0, 86, 1)])
    said = diagnose([*first, *second_run(100)[:20]])
    assert statuses(said) == [Status.FIRING, Status.RESOLVED]


def test_a_node_whose_process_has_ended_is_not_accused_by_its_last_rows() -> None:
    """Nobody says that it was replaced: its exit is all that is known, and its rows still come."""
    (verdict,) = firing(diagnose(merged(before(), [])))
    ended = exit_of(SLOW, verdict.detected_at.timestamp() - START + 0.1, expected=True)
    assert diagnose(merged(before(), [job_state("training", 0), ended])) == []


def test_a_slot_that_closes_after_the_recovery_began_accuses_nobody() -> None:
    batches = before(seconds=60)
    (verdict,) = diagnose(merged(batches, [job_state("training", 0)]))
    decided = verdict.detected_at.timestamp() - START
    broken = job_state("recovering", decided + 0.9)
    assert diagnose(merged(batches, [job_state("training", 0), broken])) == []
