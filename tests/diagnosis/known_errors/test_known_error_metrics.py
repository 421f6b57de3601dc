"""States and counters of GPUs, from the slot to the verdict and its end."""

from __future__ import annotations

import math

import pytest

from diagnosis.known_errors.telling import START, Told, event, name, xid
from paramedic.diagnosis.contract import Fault, RecommendedAction, Scope, Severity, Status
from paramedic.ingest.contract import EventKind

ASKED = "gpu_recovery_action"
PENDING, FAILED = "gpu_row_remap_pending", "gpu_row_remap_failed"
XID, HEALTH = "gpu_xid", "gpu_health"
COUNT = "gpu_ecc_uncorrectable_total"


def test_a_driver_that_asks_for_a_reset_is_heard_in_the_metric() -> None:
    told = Told()
    assert told.show(ASKED, 0, {}) == []
    (fired,) = told.show(ASKED, 1, {(1, 2): 1.0})
    assert (fired.node, fired.gpu, fired.severity) == (name(1), 2, Severity.P1)
    assert fired.action.recommended is RecommendedAction.RESET_GPU
    assert fired.detected_at.timestamp() == START + 1
    assert told.show(ASKED, 2, {(1, 2): 1.0}) == []
    (updated,) = told.show(ASKED, 3, {(1, 2): 2.0})
    assert updated.action.recommended is RecommendedAction.REBOOT_NODE
    (resolved,) = told.show(ASKED, 4, {})
    assert (resolved.status, resolved.id) == (Status.RESOLVED, fired.id)


def test_a_state_that_is_not_observed_is_not_over() -> None:
    told = Told()
    told.show(FAILED, 0, {(0, 0): 1.0})
    assert told.show(FAILED, 1, {(0, 0): math.nan}) == []
    assert len(told.open) == 1


def test_the_metric_decides_the_action_of_a_code() -> None:
    told = Told()
    told.show(ASKED, 0, {(1, 2): 1.0})
    (updated,) = told.hear(xid(79, 2))
    assert (updated.fault, updated.status) == (Fault.GPU_CARD_DROP, Status.UPDATED)
    assert updated.action.recommended is RecommendedAction.RESET_GPU


def test_a_row_that_waits_is_a_trend_and_one_that_failed_is_a_failure() -> None:
    told = Told()
    (waits,) = told.show(PENDING, 0, {(0, 1): 1.0})
    (failed,) = told.show(FAILED, 1, {(0, 1): 1.0})
    assert (waits.severity, failed.severity) == (Severity.P2, Severity.P1)
    assert (failed.id, failed.status) == (waits.id, Status.UPDATED)
    assert failed.action.recommended is RecommendedAction.REPLACE_NODE


def test_an_unknown_action_never_acts() -> None:
    assert Told().show(ASKED, 0, {(1, 2): 9.0}) == []


@pytest.mark.parametrize("metric", [ASKED, PENDING, XID, HEALTH, COUNT])
def test_an_infinite_state_is_none(metric: str) -> None:
    told = Told()
    told.show(metric, 0, {})
    assert told.show(metric, 1, {(1, 2): math.inf}) == []


def test_errors_that_were_counted_before_the_job_say_nothing() -> None:
    told = Told()
    assert [told.show(COUNT, at, {(0, 0): 41.0}) for at in range(3)] == [[], [], []]


def test_a_counter_that_grows_is_a_trend_and_then_a_failure() -> None:
    told = Told()
    for at, count in enumerate((5.0, 5.0, 6.0, math.nan, 6.0, 7.0, 8.0, 9.0)):
        told.show(COUNT, at, {(2, 3): count})
    assert [(v.status, v.severity) for v in told.said] == [
        (Status.FIRING, Severity.P2),
        (Status.UPDATED, Severity.P1),
    ]
    assert told.said[1].detected_at.timestamp() == START + 6
    assert (told.said[1].node, told.said[1].gpu) == (name(2), 3)
    assert told.said[1].evidence[0].value == 3.0


def test_a_counter_that_begins_anew_has_not_grown() -> None:
    told = Told()
    assert [told.show(COUNT, at, {(0, 0): v}) for at, v in enumerate((9.0, 0.0, 1.0))] == [[]] * 3


def test_states_of_several_gpus_in_one_slot_are_one_verdict() -> None:
    told = Told()
    (fired,) = told.show(ASKED, 0, {(1, gpu): 1.0 for gpu in range(4)})
    assert fired.scope is Scope.NODE
    assert fired.summary == "GPUs 0, 1, 2, 3 of node-0001: the driver asks for a reset of the GPU"
    assert told.show(ASKED, 1, {(1, 3): 1.0}) == []
    assert [v.status for v in told.show(ASKED, 2, {})] == [Status.RESOLVED]


def test_what_is_not_told_again_for_long_is_over() -> None:
    told = Told()
    told.hear(xid(94, 0), xid(79, 0, node=2))
    assert told.show(ASKED, 599, {}) == []
    (resolved,) = told.show(ASKED, 601, {})
    assert (resolved.node, resolved.status) == (name(1), Status.RESOLVED)
    assert [v.fault for v in told.open] == [Fault.GPU_CARD_DROP]


def test_what_has_failed_is_not_over_before_the_job_trains_again() -> None:
    told = Told()
    told.hear(xid(95, 0))
    assert told.show(ASKED, 700, {}) == []
    told.picture.record(event(EventKind.JOB_STATE, 650, 0, state="training"))
    assert [v.status for v in told.show(ASKED, 701, {})] == [Status.RESOLVED]


def test_growth_begins_anew_after_a_quiet_time() -> None:
    told = Told()
    told.show(COUNT, 0, {(0, 0): 0.0})
    told.show(COUNT, 1, {(0, 0): 2.0})
    told.show(COUNT, 700, {(0, 0): 2.0})
    (fired,) = told.show(COUNT, 701, {(0, 0): 3.0})
    assert (fired.status, fired.severity) == (Status.FIRING, Severity.P2)


def test_a_health_check_that_fails_asks_for_a_test_and_one_that_warns_for_nothing() -> None:
    told = Told()
    assert told.show(HEALTH, 0, {(1, 2): 10.0}) == []
    (failed,) = told.show(HEALTH, 1, {(1, 2): 20.0})
    assert (failed.severity, failed.gpu) == (Severity.P1, 2)
    assert failed.action.recommended is RecommendedAction.RUN_TEST
    (resolved,) = told.show(HEALTH, 2, {})
    assert resolved.status is Status.RESOLVED


def test_a_card_that_amds_exporter_calls_unhealthy_is_named_by_amds_advice() -> None:
    (fired,) = Told().show("gpu_unhealthy", 0, {(0, 3): 1.0})
    assert (fired.node, fired.gpu, fired.severity) == (name(0), 3, Severity.P1)
    assert fired.action.reason.startswith("AMD: ")


def test_a_gauge_that_changes_tells_a_code_at_once_and_only_once() -> None:
    told = Told()
    assert told.show(XID, 0, {(1, 2): 63.0}) == []
    (fired,) = told.show(XID, 1, {(1, 2): 79.0})
    assert (fired.node, fired.gpu, fired.fault) == (name(1), 2, Fault.GPU_CARD_DROP)
    assert fired.detected_at.timestamp() == START + 1
    assert [told.show(XID, at, {(1, 2): 79.0}) for at in range(2, 9)] == [[]] * 7


def test_a_code_that_stood_at_the_start_is_history_and_a_hole_brings_it_back_as_nothing_new() -> (
    None
):
    told = Told()
    for at, code in enumerate((95.0, 95.0, math.nan, math.nan, 95.0)):
        assert told.show(XID, at, {(0, 0): code}) == []


def test_the_same_code_is_new_after_the_gauge_was_seen_empty() -> None:
    told = Told()
    for at, code in enumerate((95.0, 0.0)):
        assert told.show(XID, at, {(0, 0): code}) == []
    assert len(told.show(XID, 2, {(0, 0): 95.0})) == 1


@pytest.mark.parametrize(("watched", "verdicts"), [(59, 0), (60, 1)])
def test_the_first_code_of_a_gpu_is_new_when_it_was_long_watched_without_one(
    watched: int, verdicts: int
) -> None:
    told = Told()
    nothing = dict.fromkeys(((n, g) for n in range(3) for g in range(4)), math.nan)
    told.show("gpu_power_watts", 0, {})
    assert len(told.show(XID, watched, nothing | {(1, 1): 119.0})) == verdicts


@pytest.mark.parametrize("sticky", [True, False])
def test_a_gauge_says_nothing_new_of_what_an_event_has_told(sticky: bool) -> None:
    told = Told()
    told.show(XID, 0, {})
    heard = told.hear(xid(95, 1, sticky=sticky))
    assert len(heard) == (0 if sticky else 1)
    assert told.show(XID, 1, {(1, 2): 95.0}) == []
