"""Jobs, placements and events in the store."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest

from paramedic.ingest.contract import Event, EventKind, JobName, JobState
from paramedic.remediation.bookkeeping import Bookkeeping
from paramedic.remediation.contract import Job, LedgerClass, LedgerRow
from paramedic.remediation.store.store import Store

Build = Callable[..., Event]
At = Callable[[float], datetime]
LLAMA = JobName("llama")


def take(store: Store, *events: Event) -> list[bool]:
    return [Bookkeeping(store).take(event) for event in events]


def job(store: Store) -> Job:
    with store.reading() as view:
        found = view.jobs.get(LLAMA)
    assert found is not None
    return found


def placed(store: Store) -> list[tuple[str, int | None, bool]]:
    with store.reading() as view:
        stays = view.jobs.stays(LLAMA)
    return [(stay.node, stay.rank, stay.until is None) for stay in stays]


def joined(event_of: Build) -> list[Event]:
    kind = EventKind.MEMBERSHIP
    return [
        event_of(0, kind, change="joined", node="node-0000", rank=0),
        event_of(0, kind, change="joined", node="node-0001", rank=1),
        event_of(0, kind, change="joined", node="node-0002"),
    ]


def test_a_job_is_what_its_events_say(store: Store, event_of: Build, at: At) -> None:
    take(store, *joined(event_of), event_of(1, EventKind.JOB_STATE, state="starting"))
    take(store, event_of(5, EventKind.JOB_STATE, state="training", step=7, generation=2))
    found = job(store)
    assert (found.state, found.generation, found.step) == (JobState.TRAINING, 2, 7)
    assert (found.world_size, found.started_at, found.ended_at) == (2, at(0), None)


def test_a_finished_job_has_an_end(store: Store, event_of: Build, at: At) -> None:
    take(store, event_of(9, EventKind.JOB_STATE, state="finished"))
    assert job(store).ended_at == at(9)


def test_an_older_event_never_overwrites_a_newer_one(store: Store, event_of: Build, at: At) -> None:
    take(store, event_of(5, EventKind.JOB_STATE, state="training", step=9, generation=3))
    take(store, event_of(2, EventKind.JOB_STATE, state="starting", step=1, generation=1))
    found = job(store)
    assert (found.state, found.step, found.generation) == (JobState.TRAINING, 9, 3)
    assert found.started_at == at(2)


def test_a_checkpoint_tells_the_step(store: Store, event_of: Build) -> None:
    take(store, event_of(5, EventKind.CHECKPOINT, result="saved", step=40))
    assert job(store).step == 40
    assert job(store).state is None


def test_a_spare_takes_the_place_of_the_lost_node(store: Store, event_of: Build) -> None:
    take(store, *joined(event_of))
    take(store, event_of(5, EventKind.PROCESS_EXIT, node="node-0001", rank=1, signal=9))
    assert job(store).world_size == 1
    change = {"change": "replaced_by", "by": "node-0002"}
    take(store, event_of(6, EventKind.MEMBERSHIP, node="node-0001", rank=1, **change))
    assert placed(store) == [
        ("node-0000", 0, True),
        ("node-0002", 1, True),
        ("node-0001", 1, False),
        ("node-0002", None, False),
    ]
    assert job(store).world_size == 2


def test_a_node_that_left_is_not_placed_any_more(store: Store, event_of: Build) -> None:
    take(store, *joined(event_of))
    take(store, event_of(5, EventKind.MEMBERSHIP, change="left", node="node-0002"))
    assert ("node-0002", None, False) in placed(store)


def test_the_same_events_again_change_nothing(store: Store, event_of: Build) -> None:
    events = [*joined(event_of), event_of(5, EventKind.JOB_STATE, state="training")]
    assert take(store, *events) == [True] * 4
    before = placed(store)
    assert take(store, *events) == [False] * 4
    assert placed(store) == before


@pytest.mark.parametrize("kind", [EventKind.XID, EventKind.KERNEL_LOG, EventKind.MAINTENANCE])
def test_events_that_may_come_by_the_thousand_are_not_kept(
    store: Store, event_of: Build, kind: EventKind
) -> None:
    assert take(store, event_of(1, kind, node="node-0000")) == [False]
    with store.reading() as view:
        assert view.jobs.all() == ()


def test_the_ledger_of_a_running_job_goes_up_to_now(store: Store, event_of: Build, at: At) -> None:
    take(store, event_of(0, EventKind.JOB_STATE, state="starting"))
    take(store, event_of(10, EventKind.JOB_STATE, state="training"))
    for now in (20, 50):
        Bookkeeping(store).bring_up_to(at(now))
    with store.reading() as view:
        rows = view.ledger.of_job(LLAMA)
    assert rows == (
        LedgerRow(LLAMA, LedgerClass.STARTING, at(0), at(10)),
        LedgerRow(LLAMA, LedgerClass.PRODUCTIVE, at(10), at(50)),
    )
    assert job(store).goodput == pytest.approx(0.8)


def test_the_ledger_of_a_finished_job_stays_as_it_is(store: Store, event_of: Build, at: At) -> None:
    take(store, event_of(0, EventKind.JOB_STATE, state="training"))
    take(store, event_of(10, EventKind.JOB_STATE, state="finished"))
    Bookkeeping(store).bring_up_to(at(10), also=frozenset({LLAMA}))
    Bookkeeping(store).bring_up_to(at(500))
    with store.reading() as view:
        assert view.ledger.of_job(LLAMA)[-1].ended_at == at(10)
    assert job(store).goodput == 1.0


def set_step(store: Store, step: int, moment: datetime) -> None:
    with store.writing() as tx:
        tx.jobs.set_step(LLAMA, step, moment)


def test_the_launchers_step_counts_unless_an_event_spoke_later(
    store: Store, event_of: Build, at: At
) -> None:
    take(store, event_of(10, EventKind.JOB_STATE, state="training", step=5))
    set_step(store, 9, at(9))
    assert job(store).step == 5
    set_step(store, 8, at(11))
    assert job(store).step == 8
    take(store, event_of(20, EventKind.CHECKPOINT, result="saved", step=3))
    assert job(store).step == 3


def test_a_step_of_a_job_that_nobody_knows_is_dropped(store: Store, at: At) -> None:
    set_step(store, 9, at(9))
    with store.reading() as view:
        assert view.jobs.all() == ()


def test_a_job_that_starts_again_has_no_end_any_more(store: Store, event_of: Build) -> None:
    take(store, event_of(5, EventKind.JOB_STATE, state="finished"))
    take(store, event_of(9, EventKind.JOB_STATE, state="starting"))
    assert (job(store).state, job(store).ended_at) == (JobState.STARTING, None)


def test_jobs_are_listed_by_their_start_the_newest_first(store: Store, event_of: Build) -> None:
    for seconds, name in ((5, "b"), (9, "c"), (5, "a")):
        take(store, event_of(seconds, EventKind.JOB_STATE, state="training", job=JobName(name)))
    with store.reading() as view:
        assert [one.name for one in view.jobs.all()] == ["c", "a", "b"]


def test_a_rank_counts_once_however_many_nodes_are_said_to_carry_it(
    store: Store, event_of: Build
) -> None:
    kind = EventKind.MEMBERSHIP
    take(store, event_of(0, kind, change="joined", node="node-0000", rank=0))
    take(store, event_of(1, kind, change="joined", node="node-0009", rank=0))
    assert job(store).world_size == 1


def test_a_node_that_joins_again_ends_its_former_stay(
    store: Store, event_of: Build, at: At
) -> None:
    kind = EventKind.MEMBERSHIP
    take(store, event_of(0, kind, change="joined", node="node-0000", rank=0))
    take(store, event_of(7, kind, change="joined", node="node-0000", rank=1))
    with store.reading() as view:
        stays = view.jobs.stays(LLAMA)
    assert [(one.rank, one.since, one.until) for one in stays] == [
        (1, at(7), None),
        (0, at(0), at(7)),
    ]


def test_membership_of_nobody_moves_nobody(store: Store, event_of: Build) -> None:
    take(store, event_of(0, EventKind.MEMBERSHIP, change="joined", rank=0))
    assert (job(store).world_size, placed(store)) == (0, [])
