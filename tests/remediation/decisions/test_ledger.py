"""The ledger adds up to wall time, and books each kind of time where it belongs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paramedic.diagnosis.contract import Fault, Phase, Scope, Status, Verdict
from paramedic.ingest.contract import Event, EventKind, JobName, JobState, NodeName
from paramedic.remediation.contract import LedgerRow
from paramedic.remediation.ledger import book, goodput, rows_of
from paramedic.remediation.life import (
    StateChange,
    Trouble,
    VerdictLife,
    newest_life,
    state_changes,
)

Build = Callable[..., Verdict]
BuildEvent = Callable[..., Event]
At = Callable[[float], datetime]
LLAMA = JobName("llama")


@pytest.fixture
def states(event_of: BuildEvent) -> Callable[..., list[Event]]:
    """`states((0, "starting"), (10, "training", {"step": 3}))`."""

    def build(*entries: tuple[object, ...]) -> list[Event]:
        return [
            event_of(entry[0], EventKind.JOB_STATE, state=entry[1], **_details(entry))
            for entry in entries
        ]

    return build


def _details(entry: tuple[object, ...]) -> dict[str, object]:
    details = entry[2] if len(entry) > 2 else {}
    assert isinstance(details, dict)
    return details


def booked(rows: Sequence[LedgerRow]) -> list[tuple[str, float, str | None]]:
    return [
        (row.spent_on.value, (row.ended_at - row.started_at).total_seconds(), row.incident)
        for row in rows
    ]


States = Callable[..., list[Event]]


def test_a_job_without_events_has_no_ledger(at: At) -> None:
    assert book(LLAMA, [], [], at(100)) == ()
    assert goodput(()) is None


def test_a_quiet_run_is_starting_and_then_productive(states: States, at: At) -> None:
    events = states((0, "starting"), (6, "warming_up"), (10, "training"))
    rows = book(LLAMA, events, [], at(110))
    assert booked(rows) == [("starting", 10, None), ("productive", 100, None)]
    assert goodput(rows) == pytest.approx(100 / 110)


def test_checkpoints_and_pauses_are_booked_and_evaluation_is_work(states: States, at: At) -> None:
    events = states(
        (0, "training"),
        (10, "checkpointing"),
        (12, "training"),
        (20, "evaluating"),
        (25, "suspended"),
        (40, "training"),
        (50, "finished"),
    )
    assert booked(book(LLAMA, events, [], at(999))) == [
        ("productive", 10, None),
        ("checkpoint", 2, None),
        ("productive", 13, None),
        ("suspended", 15, None),
        ("productive", 10, None),
    ]


def test_a_killed_rank_costs_recovery_and_no_detection(
    states: States, event_of: BuildEvent, verdict_of: Build, at: At
) -> None:
    events = [
        *states((0, "training"), (50.01, "recovering"), (51, "training"), (60, "finished")),
        event_of(50, EventKind.PROCESS_EXIT, node="node-0001", rank=1, signal=9),
    ]
    verdict = verdict_of(fault=Fault.PROCESS_EXIT, onset=at(50), detected_at=at(50))
    rows = book(LLAMA, events, [VerdictLife(verdict, at(50), "inc-V1")], at(60))
    assert booked(rows) == [
        ("productive", 50, None),
        ("recovery", 1, "inc-V1"),
        ("productive", 9, None),
    ]


def test_a_late_verdict_about_an_exit_changes_no_time(
    states: States, verdict_of: Build, at: At
) -> None:
    events = states((0, "training"), (50, "recovering"), (51, "training"))
    verdict = verdict_of(fault=Fault.PROCESS_EXIT, onset=at(49.5), detected_at=at(53))
    rows = book(LLAMA, events, [VerdictLife(verdict, at(53), "inc-V1")], at(60))
    assert booked(rows)[1:3] == [("detection", 0.5, "inc-V1"), ("recovery", 1, "inc-V1")]


def test_a_frozen_rank_costs_detection_from_its_onset(
    states: States, verdict_of: Build, at: At
) -> None:
    events = states((0, "training"), (61, "recovering"), (62, "training"))
    verdict = verdict_of(onset=at(50), detected_at=at(60))
    rows = book(LLAMA, events, [VerdictLife(verdict, at(60), "inc-V1")], at(100))
    assert booked(rows) == [
        ("productive", 50, None),
        ("detection", 10, "inc-V1"),
        ("recovery", 2, "inc-V1"),
        ("productive", 38, None),
    ]


def test_a_fault_that_is_known_before_its_machine_costs_localisation(
    states: States, verdict_of: Build, at: At
) -> None:
    events = states((0, "training"), (70, "recovering"), (75, "training"))
    job_wide = verdict_of("V1", scope=Scope.JOB, node=None, onset=at(50))
    rows = book(LLAMA, events, [VerdictLife(job_wide, at(60), "inc-V1")], at(80))
    assert [name for name, _, _ in booked(rows)][1:4] == ["detection", "localisation", "recovery"]


def test_a_group_is_named_when_it_is_known(states: States, verdict_of: Build, at: At) -> None:
    events = states((0, "training"), (70, "recovering"), (75, "training"))
    members = tuple(NodeName(name) for name in "abc")
    group = verdict_of("V1", scope=Scope.GROUP, node=None, members=members, onset=at(50))
    rows = book(LLAMA, events, [VerdictLife(group, at(60), "inc-V1")], at(80))
    assert [name for name, _, _ in booked(rows)][1:3] == ["detection", "recovery"]


def test_a_hang_that_nobody_acts_on_stays_lost_until_it_is_resolved(
    states: States, verdict_of: Build, at: At
) -> None:
    hang = verdict_of(onset=at(50), detected_at=at(60))
    open_rows = book(LLAMA, states((0, "training")), [VerdictLife(hang, at(60), "i")], at(70))
    assert booked(open_rows)[-1] == ("recovery", 10, "i")
    over = verdict_of(onset=at(50), detected_at=at(65), status=Status.RESOLVED)
    rows = book(LLAMA, states((0, "training")), [VerdictLife(over, at(60), "i")], at(70))
    assert booked(rows)[-2:] == [("recovery", 5, "i"), ("productive", 5, None)]


def test_a_symptom_that_brings_the_job_down_costs_nothing_before_it_did(
    states: States, verdict_of: Build, at: At
) -> None:
    events = states((0, "training"), (130, "finished"))
    failed = verdict_of(onset=at(20), detected_at=at(110), failed_at=at(50))
    rows = book(LLAMA, events, [VerdictLife(failed, at(30), "inc-V1")], at(200))
    assert booked(rows) == [("productive", 50, None), ("recovery", 80, "inc-V1")]


def test_a_straggler_leaves_the_time_productive_until_it_is_replaced(
    states: States, verdict_of: Build, at: At
) -> None:
    events = states((0, "training"), (80, "recovering"), (81, "training"))
    slow = verdict_of(fault=Fault.STRAGGLER, phase=Phase.DEGRADED, onset=at(50))
    rows = book(LLAMA, events, [VerdictLife(slow, at(79), "inc-V1")], at(100))
    assert booked(rows) == [
        ("productive", 80, None),
        ("recovery", 1, "inc-V1"),
        ("productive", 19, None),
    ]


def test_steps_done_again_are_recomputation_for_as_long_as_they_took(
    states: States, at: At
) -> None:
    events = states(
        (0, "training", {"step": 0}),
        (100, "recovering"),
        (110, "training", {"step": 40, "steps_lost": 10}),
    )
    rows = book(LLAMA, events, [], at(200))
    assert booked(rows) == [
        ("productive", 100, None),
        ("recovery", 10, None),
        ("recomputation", 20, None),
        ("productive", 70, None),
    ]


def test_recomputation_that_is_interrupted_goes_on_afterwards(states: States, at: At) -> None:
    events = states(
        (0, "training", {"step": 0}),
        (100, "recovering"),
        (110, "training", {"step": 40, "steps_lost": 10}),
        (115, "suspended"),
        (120, "training"),
    )
    assert booked(book(LLAMA, events, [], at(200)))[2:] == [
        ("recomputation", 5, None),
        ("suspended", 5, None),
        ("recomputation", 15, None),
        ("productive", 65, None),
    ]


def test_a_spare_that_dies_and_an_expected_exit_cost_nothing(
    states: States, event_of: BuildEvent, at: At
) -> None:
    events = [
        *states((0, "training"), (50, "finished")),
        event_of(20, EventKind.PROCESS_EXIT, node="node-0004", signal=9),
        event_of(49, EventKind.PROCESS_EXIT, node="node-0001", rank=1, exit_code=0, expected=True),
    ]
    assert booked(book(LLAMA, events, [], at(60))) == [("productive", 50, None)]


def test_a_job_that_is_started_anew_begins_a_new_ledger(states: States, at: At) -> None:
    events = states((0, "training"), (50, "finished"), (80, "starting"), (90, "training"))
    rows = book(LLAMA, events, [], at(100))
    assert booked(rows) == [("starting", 10, None), ("productive", 10, None)]


def test_a_verdict_whose_onset_lies_within_the_recovery_ends_with_it(
    states: States, verdict_of: Build, at: At
) -> None:
    events = states((0, "training"), (50, "recovering"), (60, "training"))
    verdict = verdict_of(onset=at(55), detected_at=at(70))
    rows = book(LLAMA, events, [VerdictLife(verdict, at(70), "inc-V1")], at(80))
    assert [name for name, _, _ in booked(rows)] == [
        "productive",
        "recovery",
        "recovery",
        "productive",
    ]
    assert booked(rows)[-1] == ("productive", 20, None)


def test_a_job_that_is_suspended_before_its_first_step_is_suspended(states: States, at: At) -> None:
    events = states((0, "starting"), (5, "suspended"), (15, "training"))
    assert booked(book(LLAMA, events, [], at(20))) == [
        ("starting", 5, None),
        ("suspended", 10, None),
        ("productive", 5, None),
    ]


def test_time_spent_on_doing_steps_again_does_not_make_steps_look_slower(
    states: States, at: At
) -> None:
    events = states(
        (0, "training", {"step": 0}),
        (100, "recovering"),
        (100, "training", {"step": 50, "steps_lost": 50}),
        (200, "recovering"),
        (200, "training", {"step": 100, "steps_lost": 50}),
    )
    # By then 150 steps have taken 150 productive seconds: 50 lost ones take 50 s again.
    assert booked(book(LLAMA, events, [], at(300)))[1::2] == [
        ("recomputation", 50, None),
        ("recomputation", 50, None),
    ]


def test_a_wait_within_a_hang_is_told_apart_from_detection(
    states: States, event_of: BuildEvent, verdict_of: Build, at: At
) -> None:
    events = [
        *states((0, "training"), (61, "recovering", {"waiting": True}), (70, "training")),
        event_of(68, EventKind.MEMBERSHIP, change="replaced_by", node="node-0001", by="node-0004"),
    ]
    verdict = verdict_of(onset=at(50), detected_at=at(60))
    rows = book(LLAMA, events, [VerdictLife(verdict, at(60), "inc-V1")], at(80))
    assert booked(rows) == [
        ("productive", 50, None),
        ("detection", 10, "inc-V1"),
        ("recovery", 1, "inc-V1"),
        ("waiting_for_capacity", 7, "inc-V1"),
        ("recovery", 2, "inc-V1"),
        ("productive", 10, None),
    ]


@pytest.mark.parametrize("waiting", [False, "yes", 1, None])
def test_only_a_true_waiting_is_a_wait(states: States, at: At, waiting: object) -> None:
    events = states((0, "training"), (5, "recovering", {"waiting": waiting}), (9, "training"))
    assert booked(book(LLAMA, events, [], at(9)))[-1][0] == "recovery"


def test_who_joins_or_leaves_ends_no_wait(states: States, event_of: BuildEvent, at: At) -> None:
    kind = EventKind.MEMBERSHIP
    events = [
        *states((0, "training"), (10, "recovering", {"waiting": True})),
        event_of(11, kind, change="left", node="node-0005"),
        event_of(12, kind, change="joined", node="node-0006"),
    ]
    assert booked(book(LLAMA, events, [], at(20)))[-1] == ("waiting_for_capacity", 10, None)


def test_a_straggler_costs_goodput_only_while_it_is_replaced(
    states: States, verdict_of: Build, at: At
) -> None:
    events = states(
        (0, "training", {"step": 0}),
        (80, "recovering"),
        (82, "training", {"step": 80, "steps_lost": 0}),
        (200, "finished"),
    )
    slow = verdict_of(
        fault=Fault.STRAGGLER,
        phase=Phase.DEGRADED,
        status=Status.RESOLVED,
        onset=at(50),
        detected_at=at(82),
    )
    rows = book(LLAMA, events, [VerdictLife(slow, at(79), "inc-V1")], at(200))
    assert goodput(rows) == pytest.approx(198 / 200)
    assert [row.spent_on.value for row in rows if row.incident] == ["recovery"]


def test_a_straggler_that_nobody_replaces_costs_no_goodput(
    states: States, verdict_of: Build, at: At
) -> None:
    slow = verdict_of(fault=Fault.STRAGGLER, phase=Phase.DEGRADED, onset=at(50))
    rows = book(LLAMA, states((0, "training")), [VerdictLife(slow, at(79), "i")], at(100))
    assert booked(rows) == [("productive", 100, None)]
    assert goodput(rows) == 1.0


_TOLD = st.one_of(
    st.builds(
        lambda state, waiting, lost: (
            EventKind.JOB_STATE,
            {"state": state.value, "waiting": waiting, "step": 50, "steps_lost": lost},
        ),
        st.sampled_from(list(JobState)),
        st.booleans(),
        st.integers(0, 9),
    ),
    st.just((EventKind.PROCESS_EXIT, {"node": "node-0001", "rank": 1, "signal": 9})),
    st.sampled_from(["joined", "left", "replaced_by"]).map(
        lambda change: (
            EventKind.MEMBERSHIP,
            {"change": change, "node": "node-0001", "by": "node-0004"},
        )
    ),
)


@pytest.mark.long
@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 40), _TOLD), max_size=10, unique_by=lambda told: told[0]),
    st.none() | st.tuples(st.integers(0, 40), st.integers(0, 40)),
    st.randoms(use_true_random=False),
)
def test_events_that_arrive_in_any_order_give_the_same_ledger_which_adds_up(
    event_of: BuildEvent,
    verdict_of: Build,
    at: At,
    told: list[tuple[int, tuple[EventKind, dict[str, object]]]],
    hang: tuple[int, int] | None,
    random: Random,
) -> None:
    events = [
        event_of(second, kind, **details) for second, (kind, details) in sorted(told, key=_second)
    ]
    lives = []
    if hang is not None:
        onset, known = min(hang), max(hang)
        verdict = verdict_of(onset=at(onset), detected_at=at(known))
        lives = [VerdictLife(verdict, at(known), "inc-V1")]
    in_order = book(LLAMA, events, lives, at(60))
    shuffled = random.sample(events, len(events))
    assert book(LLAMA, shuffled, lives, at(60)) == in_order
    life = newest_life(state_changes(events))
    if not life:
        assert in_order == ()
        return
    end = life[-1].at if life[-1].state is JobState.FINISHED else at(60)
    wall = sum((row.ended_at - row.started_at for row in in_order), timedelta())
    assert wall == end - life[0].at


def _second(told: tuple[int, object]) -> int:
    return told[0]


# Any sequence of states and faults, on a grid coarse enough to collide often.
_SECONDS = st.integers(0, 40)
_CHANGES = st.tuples(
    _SECONDS, st.sampled_from(list(JobState)), st.none() | st.integers(0, 50), st.integers(0, 9)
)
_TROUBLES = st.tuples(
    _SECONDS,
    _SECONDS,
    st.none() | _SECONDS,
    st.none() | _SECONDS,
    st.sampled_from([None, "inc-1", "inc-2"]),
    st.booleans(),
    st.booleans(),
)


@given(
    st.lists(_CHANGES, min_size=1, max_size=14),
    st.lists(_TROUBLES, max_size=5),
    st.integers(0, 60),
)
def test_any_sequence_adds_up_to_wall_time_without_overlap_or_hole(
    at: At,
    entries: list[tuple[int, JobState, int | None, int]],
    faults: list[tuple[int, int, int | None, int | None, str | None, bool, bool]],
    until_seconds: int,
) -> None:
    ordered = sorted(entries, key=lambda entry: entry[0])
    changes = [StateChange(at(second), state, step, lost) for second, state, step, lost in ordered]
    troubles = [
        Trouble(
            onset=at(onset),
            known_at=at(known),
            named_at=None if named is None else at(named),
            resolved_at=None if resolved is None else at(resolved),
            incident=incident,
            stops_job=stops_job,
            needs_break=needs_break,
        )
        for onset, known, named, resolved, incident, stops_job, needs_break in faults
    ]
    rows = rows_of(LLAMA, changes, troubles, at(until_seconds))
    is_over = changes[-1].state is JobState.FINISHED
    end = changes[-1].at if is_over else max(at(until_seconds), changes[-1].at)
    wall = end - changes[0].at
    assert sum((row.ended_at - row.started_at for row in rows), timedelta()) == wall
    assert all(row.started_at < row.ended_at for row in rows)
    edges = [changes[0].at, *(row.ended_at for row in rows)]
    assert [row.started_at for row in rows] == edges[:-1]
    assert edges[-1] == end
    share = goodput(rows)
    assert share is None or 0.0 <= share <= 1.0
    assert all(
        (before.spent_on, before.incident) != (after.spent_on, after.incident)
        for before, after in pairwise(rows)
    )
