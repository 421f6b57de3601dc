"""Which firing of a replay is the verdict that was told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diagnosis.synthetic import JOB
from diagnosis.test_docket import finding
from paramedic.api.wiring.explain_verdicts import apart_from
from paramedic.diagnosis.contract import Status, Verdict
from paramedic.diagnosis.docket import Docket
from paramedic.diagnosis.finding import moment


def fired(at: int, rank: int = 1) -> Verdict:
    (verdict,) = Docket(JOB).report(finding(rank=rank, at=at))
    return verdict


def test_of_two_verdicts_about_one_machine_each_is_found_by_its_own_moment() -> None:
    early, late = fired(100), replace(fired(140), onset=moment(90))
    is_early, is_late = (apart_from([one], one.id) for one in (early, late))
    assert (is_early(early), is_early(late)) == (0.0, None)
    assert (is_late(early), is_late(late)) == (40.0, 0.0)


def test_of_a_cut_it_may_come_a_little_sooner_under_another_id() -> None:
    known = replace(fired(100), status=Status.RESOLVED, detected_at=moment(300))
    assert apart_from([known], known.id)(fired(98)) == 2.0


@pytest.mark.parametrize(
    "other", [fired(100, rank=2), replace(fired(99), status=Status.UPDATED), fired(94)]
)
def test_what_is_of_another_machine_time_or_no_firing_is_not_it(other: Verdict) -> None:
    known = fired(100)
    assert apart_from([known], known.id)(other) is None


def test_where_nothing_was_told_only_the_id_counts() -> None:
    known = fired(100)
    assert apart_from((), known.id)(known) == 0.0
    assert apart_from((), known.id)(fired(101)) is None
