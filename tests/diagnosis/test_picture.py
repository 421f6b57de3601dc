"""What the events say about a job, whatever the order they arrive in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.synthetic import START, event, exit_of, job_state, node_name
from paramedic.diagnosis.picture import JobPicture
from paramedic.diagnosis.settings import StragglerSettings
from paramedic.ingest.contract import Event, EventKind

SETTINGS = StragglerSettings(settle_seconds=8, pause_settle_seconds=2)


def picture_of(*events: Event, first: int = 0, generation: int = 0) -> JobPicture:
    picture = JobPicture()
    picture.see(START + first, generation)
    for one in events:
        picture.record(one)
    return picture


def fit_seconds(picture: JobPicture, until: int = 100) -> list[int]:
    return [s for s in range(until) if picture.is_fit(START + s, SETTINGS)]


def test_without_events_a_job_counts_as_training_once_it_has_settled() -> None:
    assert fit_seconds(picture_of(), until=12) == [8, 9, 10, 11]


def test_nothing_is_compared_before_the_job_trains_and_has_settled() -> None:
    picture = picture_of(job_state("starting", 0), job_state("warming_up", 5))
    assert fit_seconds(picture) == []
    picture.record(job_state("training", 20))
    assert fit_seconds(picture)[0] == 28


def test_a_checkpoint_is_a_short_pause() -> None:
    picture = picture_of(
        job_state("training", 0), job_state("checkpointing", 30), job_state("training", 35)
    )
    assert set(range(8, 60)) - set(fit_seconds(picture, 60)) == set(range(30, 37))


def test_a_recovery_is_followed_by_settling() -> None:
    picture = picture_of(
        job_state("training", 0), job_state("recovering", 30.5), job_state("training", 40.2, 1)
    )
    picture.see(START + 39, 1)
    fit = fit_seconds(picture, 60)
    assert fit[:22] == list(range(8, 30))
    assert fit[22:] == list(range(49, 60))


def test_a_new_generation_settles_even_without_an_event() -> None:
    picture = picture_of()
    picture.see(START + 40, 1)
    assert set(range(8, 60)) - set(fit_seconds(picture, 60)) == set(range(40, 48))


def test_a_finished_job_is_not_compared() -> None:
    picture = picture_of(job_state("training", 0), job_state("finished", 50))
    assert picture.finished
    assert fit_seconds(picture)[-1] == 49


def test_a_state_of_a_newer_writer_changes_nothing() -> None:
    picture = picture_of(job_state("training", 0), job_state("pondering", 20))
    assert fit_seconds(picture, 30) == list(range(8, 30))


_EVENTS = [
    job_state("starting", 0),
    job_state("training", 10),
    job_state("checkpointing", 30),
    job_state("training", 33),
    job_state("recovering", 50),
    job_state("training", 60, 1),
]


@given(st.permutations(_EVENTS))
def test_the_order_of_arrival_does_not_matter(events: list[Event]) -> None:
    assert fit_seconds(picture_of(*events)) == fit_seconds(picture_of(*_EVENTS))


@given(st.permutations([(40, 1), (41, 1), (42, 1)]))
def test_the_oldest_batch_of_a_generation_is_its_beginning(seen: list[tuple[int, int]]) -> None:
    picture = picture_of()
    for second, generation in seen:
        picture.see(START + second, generation)
    assert picture.stretch(START + 45) == START + 40


@pytest.mark.parametrize("change", ["left", "replaced_by"])
def test_a_node_departs_and_may_join_again(change: str) -> None:
    picture = picture_of(event(EventKind.MEMBERSHIP, 20, node_name(1), 1, change=change))
    assert picture.departed == {node_name(1)}
    picture.record(event(EventKind.MEMBERSHIP, 30, node_name(1), 1, change="joined"))
    assert picture.departed == set()


def test_a_node_whose_process_ended_has_departed() -> None:
    assert picture_of(exit_of(2, 20, expected=True)).departed == {node_name(2)}


def test_long_ago_is_forgotten() -> None:
    pauses = [job_state(s, at) for at in range(0, 4000, 20) for s in ("evaluating",)]
    resumed = [job_state("training", at + 5) for at in range(0, 4000, 20)]
    picture = picture_of(*pauses, *resumed)
    assert len(picture._states) < 100
