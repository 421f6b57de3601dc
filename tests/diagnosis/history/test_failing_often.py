"""A node that fails abnormally often is a verdict of its own; a fleet that fails is not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.history.past_failures import (
    DAY,
    HOUR,
    JOB,
    START,
    Watched,
    at,
    failure,
    finding,
    name,
)
from paramedic.diagnosis.admission import Admission
from paramedic.diagnosis.contract import Fault, RecommendedAction, Scope, Severity, Status, Tier
from paramedic.diagnosis.docket import Docket
from paramedic.diagnosis.history.fleet import FleetHistory, is_failure
from paramedic.diagnosis.history.settings import HistorySettings
from paramedic.diagnosis.picture import JobPicture
from paramedic.ingest.contract import Event, EventKind, JobName

OTHER = JobName("mixtral")
THRICE = [(7, HOUR), (7, 20 * HOUR), (7, 50 * HOUR)]


def test_the_third_failure_of_one_node_in_a_sound_fleet_names_it() -> None:
    watched = Watched()
    assert watched.play(THRICE[:2]) == []
    (verdict,) = watched.play(THRICE[2:])
    assert (verdict.node, verdict.fault) == (name(7), Fault.NODE_FAILURE_RATE)
    assert (verdict.scope, verdict.severity, verdict.tier) == (
        Scope.NODE,
        Severity.P1,
        Tier.KNOWN_ERROR,
    )
    assert verdict.onset == at(HOUR)
    assert verdict.detected_at == at(50 * HOUR + 1e-6)
    assert verdict.id != failure(7, 50 * HOUR).id
    assert "failed 3 times in 7 days (hang 3 ×)" in verdict.summary
    assert verdict.evidence[0].value == 3.0
    assert verdict.evidence[0].peers == 0.0
    assert 0.95 <= verdict.confidence < 1.0
    assert verdict.action.recommended is RecommendedAction.RUN_TEST


def test_a_node_that_goes_on_failing_is_told_once_and_kept_out_when_there_is_no_doubt() -> None:
    watched = Watched()
    found = watched.play([(7, hour * HOUR) for hour in range(1, 7)])
    assert len(found) == 1
    sure = Watched(HistorySettings(least_failures=5))
    (verdict,) = sure.play([(7, hour * HOUR) for hour in range(1, 7)])
    assert verdict.action.recommended is RecommendedAction.CORDON_NODE


def test_several_verdicts_of_one_incident_count_once() -> None:
    watched = Watched()
    minutes = [(7, HOUR + 60.0 * minute) for minute in range(9)]
    assert watched.play(minutes) == []
    assert len(watched.fleet.incidents(name(7), JOB, START + 2 * HOUR)) == 1


def test_a_fleet_that_fails_as_a_whole_accuses_nobody() -> None:
    everybody = [(node, hour * HOUR + node) for hour in (1, 5, 9, 13) for node in range(64)]
    assert Watched().play(everybody) == []


def test_two_bad_nodes_do_not_mask_each_other() -> None:
    found = Watched().play([(node, hour * HOUR + node) for hour in range(1, 6) for node in (7, 9)])
    assert {one.node for one in found} == {name(7), name(9)}


def test_what_is_older_than_the_window_does_not_count_and_ends_the_verdict() -> None:
    assert Watched().play([(7, HOUR), (7, 2 * HOUR), (7, 9 * DAY)]) == []
    watched = Watched()
    watched.play(THRICE)
    assert watched.pass_until(6 * DAY) == []
    (over,) = watched.pass_until(8 * DAY)
    assert over.status is Status.RESOLVED


@pytest.mark.parametrize(
    "harmless",
    [
        replace(failure(7, 60), status=Status.RESOLVED),
        replace(failure(7, 60), severity=Severity.P2),
        replace(failure(7, 60), scope=Scope.GROUP),
        failure(7, 60, Fault.TELEMETRY_LOST),
        replace(failure(7, 60), fault=Fault.NODE_FAILURE_RATE),
    ],
)
def test_what_is_no_failure_of_a_machine_does_not_count(harmless: object) -> None:
    assert not is_failure(harmless)  # type: ignore[arg-type]


def test_failures_in_other_jobs_count_once_they_are_a_minute_old() -> None:
    fleet = FleetHistory()
    there, here = Watched(fleet=fleet, job=OTHER), Watched(fleet=fleet)
    assert there.play(THRICE[:2]) == []
    (verdict,) = here.play(THRICE[2:])
    assert verdict.job == JOB
    late = FleetHistory()
    there, here = Watched(fleet=late, job=OTHER), Watched(fleet=late)
    there.play([(7, HOUR), (7, 2 * HOUR - 30)])
    assert here.play([(7, 2 * HOUR)]) == []


def test_a_verdict_that_was_told_before_is_decided_again_after_a_restart() -> None:
    first = Watched()
    (told,) = first.play(THRICE)
    fleet = FleetHistory()
    for node, second in [*THRICE, (7, 60 * HOUR)]:
        fleet.hear(failure(node, second))
    (again,) = Watched(fleet=fleet).play(THRICE)
    assert again == told


@given(st.permutations([failure(node, hour * HOUR) for hour in range(4) for node in (1, 2)]))
def test_it_makes_no_difference_in_which_order_verdicts_are_heard(told: list) -> None:  # type: ignore[type-arg]
    fleet = FleetHistory()
    for verdict in [*told, *told]:
        fleet.hear(verdict)
    for node in (1, 2):
        seconds = [one.second for one in fleet.incidents(name(node), JOB, START + DAY)]
        assert seconds == [START + hour * HOUR for hour in range(4)]


def test_a_newcomer_is_compared_by_the_time_it_was_there() -> None:
    fleet = FleetHistory()
    fleet.see(JOB, [name(1), name(2)], START)
    fleet.see(JOB, [name(1), name(2), name(3)], START + DAY)
    fleet.see(JOB, [name(3)], START + 2 * DAY)
    fleet.hear(failure(3, 1.5 * DAY))
    counts = fleet.counts(name(3), JOB, START + 2 * DAY)
    assert (counts.node, counts.fleet, counts.peers) == (1, 1, 2.0)


def test_what_is_far_behind_is_forgotten() -> None:
    watched = Watched()
    watched.play(THRICE)
    watched.pass_until(30 * DAY)
    assert not watched.fleet._failures
    assert not watched.fleet._known


def test_it_stays_open_when_its_node_leaves_and_ends_with_the_job() -> None:
    watched = Watched()
    watched.play(THRICE)
    picture = JobPicture()
    for second, kind, node, details in (
        (51 * HOUR, EventKind.MEMBERSHIP, name(7), {"change": "left"}),
        (52 * HOUR, EventKind.JOB_STATE, None, {"state": "training"}),
    ):
        picture.record(Event(at(second), kind, JOB, node, generation=1, details=details))
    assert watched.docket.clear_departed(name(7), at(51 * HOUR)) == ()
    assert watched.docket.clear_after_recovery(picture) == ()
    adopted = Docket(JOB)
    adopted.adopt(list(watched.docket.open.values()))
    assert len(adopted.close(at(53 * HOUR), "the job has finished")) == 1


def test_without_peers_nobody_fails_abnormally_often() -> None:
    assert Watched(nodes=1).play([(0, hour * HOUR) for hour in range(1, 20)]) == []


def confidence(settings: HistorySettings, node: int) -> float:
    watched = Watched(settings)
    watched.play([(7, hour * HOUR) for hour in range(1, 6)])
    docket = Docket(JOB, Admission(odds_factor=watched.history.odds_factor))
    (verdict,) = docket.report(finding(node, 8 * HOUR))
    return verdict.confidence


def test_the_past_moves_the_confidence_only_where_it_is_asked_for() -> None:
    on = HistorySettings(use_prior=True)
    assert confidence(HistorySettings(), 7) == confidence(HistorySettings(), 8) == 0.9
    assert confidence(on, 7) == pytest.approx(0.952, abs=0.002)
    assert confidence(on, 8) == pytest.approx(0.898, abs=0.002)


def test_certainty_and_the_present_incident_are_left_alone() -> None:
    watched = Watched(HistorySettings(use_prior=True))
    watched.play([(7, hour * HOUR) for hour in range(1, 6)])
    docket = Docket(JOB, Admission(odds_factor=watched.history.odds_factor))
    (verdict,) = docket.report(finding(7, 6 * HOUR, Fault.PROCESS_EXIT, confidence=1.0))
    assert verdict.confidence == 1.0
    assert watched.history.odds_factor(name(9), START + HOUR + 60) == 1.0


@pytest.mark.parametrize(
    "wrong",
    [
        {"incident_seconds": 0.0},
        {"incident_seconds": 8.0 * DAY},
        {"least_failures": 1},
        {"false_alarms_per_week": 0.0},
        {"unevenness": -1.0},
    ],
)
def test_settings_that_cannot_hold_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        HistorySettings(**wrong)  # type: ignore[arg-type]
