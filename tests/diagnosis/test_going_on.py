"""Whether a job has gone on since something happened: by its steps, or else by its cards."""

from __future__ import annotations

from collections.abc import Sequence

from diagnosis.cards import START as CARDS_START
from diagnosis.cards import slot
from diagnosis.synthetic import START, Scene
from diagnosis.test_motion import COMPUTES, SPINS, Levels
from paramedic.diagnosis.going_on import GoingOn
from paramedic.diagnosis.liveness import Liveness
from paramedic.diagnosis.motion import Motion

FAILED_AT = 100
BEFORE = [COMPUTES] * FAILED_AT


def going(cards: Sequence[Levels], stops_at: int = -1, silent_from: int = 10**9) -> GoingOn:
    """Cards that do this second by second; ranks that stop their steps, and are heard until then.

    With `stops_at` below 0 nothing is told of ranks.
    """
    liveness, motion = Liveness(clock_tolerance_seconds=5), Motion()
    for at, levels in enumerate(cards):
        motion.hear(slot(START - CARDS_START + at, levels))
    ranks = Scene(seconds=len(cards), frozen={9: stops_at}).batches() if stops_at >= 0 else []
    for batch in ranks[:silent_from]:
        liveness.observe(batch, ())
    return GoingOn(liveness, motion)


def has_gone_on(of_job: GoingOn) -> bool:
    return of_job.since(START + FAILED_AT)


def test_a_step_that_was_under_way_when_something_failed_is_no_going_on() -> None:
    assert not has_gone_on(going([*BEFORE, *[COMPUTES] * 9], stops_at=FAILED_AT + 4))
    assert has_gone_on(going([*BEFORE, *[COMPUTES] * 9], stops_at=FAILED_AT + 7))


def test_cards_say_so_where_no_rank_tells_anything() -> None:
    assert not has_gone_on(going([*BEFORE, *[COMPUTES] * 20]))
    assert has_gone_on(going([*BEFORE, *[COMPUTES] * 62]))


def test_ranks_that_beat_and_make_no_step_are_believed_before_cards() -> None:
    assert not has_gone_on(going([*BEFORE, *[COMPUTES] * 90], stops_at=FAILED_AT))


def test_cards_are_asked_when_ranks_are_heard_of_no_more() -> None:
    works = [*BEFORE, *[COMPUTES] * 90]
    assert has_gone_on(going(works, stops_at=FAILED_AT - 1, silent_from=FAILED_AT))
    assert not has_gone_on(going([*BEFORE, *[SPINS] * 90], FAILED_AT - 1, silent_from=FAILED_AT))
