"""The summary is computed from what arrived, and says plainly when a promise did not hold."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from api.verdicts import NOON, a_verdict
from paramedic.api.demo.observations import Injection, Observed
from paramedic.api.demo.request import InjectedFault
from paramedic.api.demo.summary import Ending, Summary, broken_promises, summarise
from paramedic.diagnosis.contract import Fault, Scope, Status, Tier, Verdict, verdict_id
from paramedic.ingest.contract import Event, EventKind, JobName, NodeName

JOB = JobName("demo")
HIT = Injection(at_seconds=100.0, rank=2, node="node-0002", generation=0)
RANKS = {f"node-000{rank}": rank for rank in range(4)}
WELL = Ending(exit_code=0, steps_done=400, goodput=0.98123, loss_curve_identical=True)


def verdict(
    node: str | None = "node-0002",
    status: Status = Status.FIRING,
    scope: Scope = Scope.NODE,
    minute: int = 0,
) -> Verdict:
    name = None if node is None else NodeName(node)
    moment = NOON.replace(minute=minute)
    return a_verdict(
        id=verdict_id(JOB, 0, scope, name, (), None, moment),
        job=JOB,
        scope=scope,
        node=name,
        status=status,
        fault=Fault.PROCESS_EXIT,
        tier=Tier.KNOWN_ERROR,
        onset=moment,
        detected_at=moment,
    )


def trains(generation: int, steps_lost: int | None = None) -> Event:
    details: dict[str, str | int | float | bool | None] = {"state": "training", "step": 81}
    if steps_lost is not None:
        details["steps_lost"] = steps_lost
    return Event(NOON, EventKind.JOB_STATE, JOB, generation=generation, details=details)


def summary_of(*observed: Observed, fault: InjectedFault = InjectedFault.KILL) -> Summary:
    return summarise(fault, 400, HIT, observed, RANKS, WELL)


def test_a_good_run_has_every_time_since_the_injection() -> None:
    summary = summary_of(
        Observed(50.0, trains(0)),
        Observed(100.2, verdict()),
        Observed(100.9, trains(1, steps_lost=0)),
        Observed(103.0, verdict(status=Status.RESOLVED)),
    )
    assert summary.to_dict() == {
        "fault": "kill",
        "rank_hit": 2,
        "rank_named": 2,
        "seconds_to_detect": 0.2,
        "seconds_to_localise": 0.2,
        "seconds_to_recover": 0.9,
        "steps_lost": 0,
        "goodput": 0.9812,
        "loss_curve_identical": True,
        "steps": 400,
        "wrong_verdicts": 0,
    }
    assert broken_promises(summary, WELL) == ()


def test_the_fields_keep_the_order_of_the_format() -> None:
    assert list(summary_of().to_dict())[:3] == ["fault", "rank_hit", "rank_named"]
    assert list(summary_of().to_dict())[-2:] == ["steps", "wrong_verdicts"]


def test_without_a_verdict_nothing_is_named_and_the_reason_says_so() -> None:
    summary = summary_of(Observed(101.0, trains(1, steps_lost=1)))
    assert summary.rank_named is None
    assert summary.seconds_to_detect is None
    assert summary.steps_lost == 1
    assert broken_promises(summary, WELL) == ("rank 2 was hit and no verdict came",)


def test_a_wrong_rank_named_first_counts_even_if_the_right_one_follows() -> None:
    summary = summary_of(
        Observed(105.0, verdict("node-0001", minute=1)), Observed(107.0, verdict(minute=2))
    )
    assert summary.rank_named == 1
    assert summary.seconds_to_detect == 5.0
    assert summary.seconds_to_localise == 7.0
    assert summary.wrong_verdicts == 1
    assert len(broken_promises(summary, WELL)) == 2


def test_a_verdict_about_the_whole_job_detects_and_is_wrong() -> None:
    summary = summary_of(Observed(101.0, verdict(None, scope=Scope.JOB)))
    assert (summary.rank_named, summary.seconds_to_localise) == (None, None)
    assert (summary.seconds_to_detect, summary.wrong_verdicts) == (1.0, 1)


def test_a_verdict_before_the_injection_is_wrong_whomever_it_names() -> None:
    summary = summary_of(Observed(90.0, verdict(minute=1)), Observed(100.5, verdict(minute=2)))
    assert summary.rank_named == 2
    assert summary.wrong_verdicts == 1


def test_updates_and_repeats_of_a_verdict_count_once() -> None:
    other = verdict("node-0003")
    summary = summary_of(
        Observed(100.5, verdict()),
        Observed(101.0, other),
        Observed(101.5, other),
        Observed(102.0, replace(other, status=Status.UPDATED)),
    )
    assert summary.wrong_verdicts == 1


def test_training_of_the_old_generation_is_no_recovery() -> None:
    summary = summary_of(Observed(100.1, trains(0)))
    assert summary.seconds_to_recover is None
    assert summary.steps_lost is None


def test_steps_lost_add_up_over_recoveries() -> None:
    summary = summary_of(Observed(101.0, trains(1, 1)), Observed(110.0, trains(2, 2)))
    assert summary.steps_lost == 3


def test_a_node_that_was_never_placed_has_no_rank() -> None:
    assert summary_of(Observed(101.0, verdict("node-0099"))).rank_named is None


def test_a_run_that_fails_or_stops_early_is_no_success() -> None:
    ending = Ending(exit_code=137, steps_done=120, goodput=None, loss_curve_identical=None)
    summary = summarise(InjectedFault.SLOW, 400, HIT, [Observed(101.0, verdict())], RANKS, ending)
    assert broken_promises(summary, ending) == (
        "the training ended with exit code 137",
        "only 120 of 400 steps done",
    )


def test_only_kill_and_freeze_promise_the_same_curve() -> None:
    ending = replace(WELL, loss_curve_identical=False, curve_difference="step 7, rank 1: a")
    observed = [Observed(101.0, verdict())]
    for fault, held in (
        (InjectedFault.KILL, False),
        (InjectedFault.FREEZE, False),
        (InjectedFault.SLOW, True),
    ):
        summary = summarise(fault, 400, HIT, observed, RANKS, ending)
        assert (broken_promises(summary, ending) == ()) is held


def test_a_healthy_run_holds_only_without_any_verdict() -> None:
    ending = Ending(exit_code=0, steps_done=900, goodput=1.0, loss_curve_identical=None)
    quiet = summarise(InjectedFault.NONE, 15000, None, [], RANKS, ending)
    loud = summarise(InjectedFault.NONE, 15000, None, [Observed(1.0, verdict())], RANKS, ending)
    assert broken_promises(quiet, ending) == ()
    assert broken_promises(loud, ending) == ("1 verdict named somebody who was not hit",)
    assert quiet.rank_hit is None


@given(
    st.lists(
        st.tuples(
            st.floats(min_value=0, max_value=300),
            st.sampled_from(["node-0000", "node-0002", "node-0009", None]),
            st.integers(min_value=0, max_value=59),
            st.sampled_from(list(Status)),
        ),
        max_size=12,
    )
)
def test_whatever_arrives_the_counts_stay_within_what_was_said(
    said: list[tuple[float, str | None, int, Status]],
) -> None:
    observed = [
        Observed(at, verdict(node, status, minute=minute))
        for at, node, minute, status in sorted(said, key=lambda one: one[0])
    ]
    summary = summary_of(*observed)
    firing = {
        one.said.id
        for one in observed
        if isinstance(one.said, Verdict) and one.said.status is Status.FIRING
    }
    assert 0 <= summary.wrong_verdicts <= len(firing)
    if summary.seconds_to_localise is not None:
        assert summary.seconds_to_detect is not None
        assert 0 <= summary.seconds_to_detect <= summary.seconds_to_localise
