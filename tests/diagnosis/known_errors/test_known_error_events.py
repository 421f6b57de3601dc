"""Codes of drivers, from the event to the verdict and its end."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.known_errors.telling import START, Told, asked, event, name, sxid, xid
from paramedic.diagnosis.contract import (
    Fault,
    Phase,
    RecommendedAction,
    Scope,
    Severity,
    Status,
    Tier,
    Verdict,
)
from paramedic.diagnosis.known_errors.reading import read_known_errors, shipped_known_errors
from paramedic.diagnosis.known_errors.settings import KnownErrorSettings
from paramedic.ingest.contract import Event, EventKind


def test_a_gpu_that_fell_off_the_bus_is_named_by_its_event() -> None:
    (fired,) = Told().hear(xid(79, 5))
    assert (fired.fault, fired.tier, fired.phase) == (
        Fault.GPU_CARD_DROP,
        Tier.KNOWN_ERROR,
        Phase.FAILED,
    )
    assert (fired.scope, fired.node, fired.gpu) == (Scope.GPU, name(1), 2)
    assert (fired.severity, fired.status) == (Severity.P1, Status.FIRING)
    assert fired.summary == "GPU 2 of node-0001: Xid 79, the GPU has fallen off the bus"
    assert fired.action.recommended is RecommendedAction.REBOOT_NODE
    assert fired.action.reason == "NVIDIA: reboot the node; contact support"
    assert fired.confidence >= 0.95
    assert [(e.metric, e.value) for e in fired.evidence] == [("xid", 79.0)]
    assert fired.detected_at.timestamp() == START + 5


@pytest.mark.parametrize(
    "harmless",
    [
        *(xid(code) for code in (63, 92, 43, 45, 154, 171)),
        xid(999),
        xid(79, sticky=True),
        xid(145, severity="nonfatal"),
        sxid(11012),
        sxid(99_999, severity="fatal"),
        asked(0),
        asked(7),
        event(EventKind.XID, 0, 1, 2, code=79),
        event(EventKind.XID, 0, 1, 2, xid=True),
    ],
)
def test_harmless_unknown_old_and_unreadable_codes_never_act(harmless: Event) -> None:
    assert Told().hear(harmless) == []


def test_an_unknown_code_is_a_note_beside_what_accuses() -> None:
    told = Told()
    told.hear(xid(999, 1), xid(63, 2))
    (fired,) = told.hear(xid(95, 3))
    assert [e.value for e in fired.evidence] == [95.0, 63.0, 999.0]


def test_an_error_of_the_program_is_told_as_one() -> None:
    (fired,) = Told().hear(xid(31))
    assert (fired.fault, fired.severity) == (Fault.CUDA_EXECUTION_ERROR, Severity.P2)
    assert fired.action.recommended is RecommendedAction.RESTART_PROCESS
    assert "as a rule an error of the program, not of the GPU" in fired.summary
    assert fired.phase is Phase.SYMPTOM
    assert fired.confidence < 0.9


def test_a_programs_error_on_every_node_is_told_once() -> None:
    told = Told()
    told.hear(*(xid(13, node, node, gpu) for node in range(3) for gpu in range(2)))
    assert [v.node for v in told.said if v.status is Status.FIRING] == [name(0)]


def test_hardware_on_several_nodes_is_a_verdict_each() -> None:
    told = Told()
    told.hear(xid(95, 0, 0), xid(95, 1, 1))
    assert [v.node for v in told.said] == [name(0), name(1)]


def test_repeated_codes_of_a_gpu_stay_one_verdict() -> None:
    told = Told()
    told.hear(*(xid(119, at) for at in range(0, 1800, 90)))
    assert [v.status for v in told.said] == [Status.FIRING]


def test_a_graver_code_updates_the_verdict() -> None:
    fired, updated = Told().hear(xid(94, 0), xid(95, 30))
    assert (fired.severity, updated.severity) == (Severity.P2, Severity.P1)
    assert (updated.status, updated.id) == (Status.UPDATED, fired.id)
    assert updated.onset == fired.onset


@pytest.mark.parametrize("first", [0, 1])
def test_what_the_driver_asks_for_goes_before_the_codes_own_action(first: int) -> None:
    both = [xid(79, 1), asked(1, 1)]
    told = Told()
    told.hear(both[first], both[1 - first])
    newest = told.said[-1]
    assert newest.action.recommended is RecommendedAction.RESET_GPU
    assert newest.action.reason == "the driver asks for it: reset the GPU"
    assert newest.fault is Fault.GPU_CARD_DROP
    assert newest.summary.endswith("off the bus; the driver asks for a reset of the GPU")
    assert {e.metric for e in newest.evidence} == {"xid", "gpu_recovery_action"}
    assert len(told.open) == 1


def test_the_driver_alone_is_enough() -> None:
    (fired,) = Told().hear(asked(2))
    assert fired.action.recommended is RecommendedAction.REBOOT_NODE
    assert fired.summary == "GPU 2 of node-0001: the driver asks for a reboot of the node"


def test_a_harmless_code_after_which_the_driver_wants_a_reset_is_a_p1() -> None:
    (fired,) = Told().hear(xid(63, 0), asked(1, 1))
    assert (fired.severity, fired.action.recommended) == (Severity.P1, RecommendedAction.RESET_GPU)


def test_it_is_over_when_the_driver_wants_nothing_any_more() -> None:
    told = Told()
    told.hear(xid(95, 0), asked(1, 1))
    (resolved,) = told.hear(asked(0, 50))
    assert (resolved.status, told.open) == (Status.RESOLVED, [])
    assert [v.severity for v in told.hear(xid(94, 60))] == [Severity.P2]


def test_several_gpus_at_once_are_one_verdict_about_the_node() -> None:
    told = Told()
    fired, updated = told.hear(*(xid(95, gpu / 4, gpu=gpu) for gpu in range(4)))
    assert (fired.scope, updated.scope) == (Scope.GPU, Scope.NODE)
    assert (updated.id, updated.gpu, updated.status) == (fired.id, None, Status.UPDATED)
    assert updated.summary.startswith("GPUs 0, 1 of node-0001: Xid 95")
    assert told.hear(xid(48, 100, gpu=3)) == []
    assert len(told.open) == 1


def test_gpus_that_tell_minutes_apart_are_a_verdict_each() -> None:
    told = Told()
    told.hear(xid(95, 0, gpu=0), xid(95, 200, gpu=1))
    assert [v.gpu for v in told.open] == [0, 1]


@pytest.mark.parametrize("third", [xid(95, 203, gpu=2), xid(48, 4, gpu=1)])
def test_verdicts_about_gpus_end_in_the_nodes(third: Event) -> None:
    told = Told()
    told.hear(xid(95, 0, gpu=0), xid(95, 200, gpu=1))
    ended, updated = told.hear(third)
    assert (ended.status, ended.gpu, updated.status) == (Status.RESOLVED, 1, Status.UPDATED)
    assert "it is one with the trouble of GPU 0" in ended.summary
    assert (updated.id, [v.scope for v in told.open]) == (told.said[0].id, [Scope.NODE])


def test_a_fabric_that_fails_is_a_verdict_about_the_node_with_its_gpus_codes() -> None:
    told = Told()
    told.hear(sxid(23010, 0), xid(74, 1, gpu=0), xid(74, 1, gpu=3))
    (verdict,) = told.open
    assert (verdict.scope, verdict.fault) == (Scope.NODE, Fault.NVLINK_ERROR)
    assert verdict.action.recommended is RecommendedAction.REBOOT_NODE


def test_a_storm_of_lost_gpus_and_links_is_one_verdict() -> None:
    told = Told()
    told.hear(xid(79, 0), *(sxid(20034, at / 10) for at in range(1, 20)), xid(74, 2, gpu=1))
    assert [v.scope for v in told.open] == [Scope.NODE]
    assert {v.id for v in told.said} == {told.said[0].id}


def test_a_users_severity_is_used() -> None:
    mine = '[[xid]]\ncode = 79\nseverity = "P0"\n[[xid]]\ncode = 63\nseverity = "P2"\n'
    told = Told(read_known_errors(mine, "mine", shipped_known_errors()))
    assert [v.severity for v in told.hear(xid(79, 0, 0), xid(63, 0, 1))] == [
        Severity.P0,
        Severity.P2,
    ]


def test_a_node_that_has_left_tells_nothing() -> None:
    told = Told()
    left = event(EventKind.MEMBERSHIP, 0, 1, change="left")
    told.picture.record(left)
    assert told.hear(left, xid(79, 1)) == []


def test_times_that_cannot_hold_together_are_refused() -> None:
    with pytest.raises(ValueError, match=r"together_seconds \(20\) must lie"):
        KnownErrorSettings(together_seconds=20, quiet_seconds=10)


EVENTS: Sequence[Event] = [
    *(xid(code, at) for at, code in enumerate((13, 63, 94, 95, 79, 999, 45, 64))),
    asked(1, 3),
    asked(2, 6),
    sxid(20034, 2),
    xid(74, 4, gpu=0),
]


def acted_on(verdict: Verdict) -> tuple[object, ...]:
    """What people act on; the words stay those of the last change."""
    action = verdict.action.recommended
    return (verdict.scope, verdict.gpu, verdict.fault, verdict.severity, verdict.phase, action)


@given(st.permutations(EVENTS), st.integers(1, len(EVENTS)))
def test_the_order_of_events_makes_no_difference_in_the_end(events: list[Event], most: int) -> None:
    shuffled, in_order = Told(), Told()
    shuffled.hear(*events[:most])
    in_order.hear(*sorted(events[:most], key=lambda one: one.timestamp))
    assert {acted_on(v) for v in shuffled.open} == {acted_on(v) for v in in_order.open}


@given(st.lists(st.sampled_from(EVENTS), max_size=12))
def test_each_change_is_told_once_and_one_verdict_is_open_for_a_place(events: list[Event]) -> None:
    told = Told()
    told.hear(*events)
    firing = [v.id for v in told.said if v.status is Status.FIRING]
    assert len(firing) == len(set(firing))
    assert len({(v.node, v.gpu) for v in told.open}) == len(told.open)
    assert told.hear(*events) == []
