"""What a card tells and how it works are one problem, and one verdict."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paramedic.diagnosis.contract import (
    Candidate,
    Evidence,
    Fault,
    Phase,
    Recommendation,
    RecommendedAction,
    Severity,
    Status,
    Tier,
    Verdict,
)
from paramedic.diagnosis.docket import Docket
from paramedic.diagnosis.finding import Finding, Subject, Trouble, moment
from paramedic.diagnosis.one_card import is_with_departure
from paramedic.ingest.contract import JobName, NodeName

NODE, OTHER = NodeName("a"), NodeName("b")
CARD = Subject(NODE, Trouble.CARD, 2)
SLOWER = Evidence("gpu_utilization_ratio", 0.8, 0.95, -9.0, moment(90))
CODE = Evidence("xid", 94.0, None, 0.0, moment(80))
RESET = Recommendation(RecommendedAction.RESET_GPU, "NVIDIA: reset it")
REPLACE = Recommendation(RecommendedAction.REPLACE_NODE, "memory gets worse")


def works(fault: Fault = Fault.ECC_ERROR, gpu: int | None = 2, at: int = 100) -> Finding:
    return Finding(
        node=NODE, rank=None, generation=0, fault=fault, phase=Phase.SYMPTOM, tier=Tier.PATTERN,
        confidence=0.96, onset=moment(90), detected_at=moment(at), summary="GPU 2 of a lost work",
        candidates=(Candidate(NODE, 40.0), Candidate(OTHER, 3.0)), evidence=(SLOWER,), gpu=gpu,
        action=REPLACE, severity=Severity.P1,
    )  # fmt: skip


def tells(
    severity: Severity = Severity.P2, fault: Fault = Fault.ECC_ERROR, at: int = 80, code: int = 94
) -> Finding:
    return Finding(
        node=NODE, rank=None, generation=0, fault=fault, phase=Phase.SYMPTOM,
        tier=Tier.KNOWN_ERROR, confidence=0.99, onset=moment(at), detected_at=moment(at),
        summary=f"GPU 2 of a: Xid {code}", candidates=(Candidate(NODE, 1.0),),
        evidence=(replace(CODE, value=float(code)),), gpu=2, action=RESET, severity=severity,
    )  # fmt: skip


def told(*findings: Finding) -> tuple[Docket, list[Verdict]]:
    docket = Docket(JobName("j"))
    return docket, [verdict for one in findings for verdict in docket.revise(one)]


def only(docket: Docket) -> Verdict:
    (verdict,) = docket.open.values()
    return verdict


@pytest.mark.parametrize("findings", [(tells(), works()), (works(), tells(at=120))])
def test_whichever_comes_first_fires_and_the_other_updates_it(
    findings: tuple[Finding, ...],
) -> None:
    docket, (fired, updated) = told(*findings)
    assert (fired.status, updated.status) == (Status.FIRING, Status.UPDATED)
    assert updated.id == fired.id
    assert docket.open == {CARD: updated}
    assert (updated.tier, updated.fault, updated.gpu) == (Tier.KNOWN_ERROR, Fault.ECC_ERROR, 2)
    assert updated.summary == "GPU 2 of a lost work; and GPU 2 of a: Xid 94"
    assert [one.metric for one in updated.evidence] == ["gpu_utilization_ratio", "xid"]
    assert updated.candidates[1].node == OTHER
    assert updated.onset == min(one.onset for one in findings)


@pytest.mark.parametrize(("severity", "advice"), [(Severity.P2, REPLACE), (Severity.P1, RESET)])
@pytest.mark.parametrize("is_told_first", [True, False])
def test_the_makers_advice_holds_unless_it_takes_the_error_for_a_trend(
    severity: Severity, advice: Recommendation, *, is_told_first: bool
) -> None:
    findings = (tells(severity), works()) if is_told_first else (works(), tells(severity, at=120))
    docket, _ = told(*findings)
    assert (only(docket).severity, only(docket).action) == (Severity.P1, advice)


TEST = Recommendation(RecommendedAction.RUN_TEST, "nothing says why")
NOTIFY = Recommendation(RecommendedAction.NOTIFY, "NVIDIA: nothing to do")


@pytest.mark.parametrize(
    ("fault", "seen", "asked", "advice"),
    [
        (Fault.UNKNOWN, TEST, RESET, RESET),
        (Fault.UNKNOWN, REPLACE, RESET, RESET),
        (Fault.ECC_ERROR, TEST, RESET, RESET),
        (Fault.ECC_ERROR, REPLACE, RESET, REPLACE),
        (Fault.UNKNOWN, TEST, NOTIFY, TEST),
    ],
)
@pytest.mark.parametrize("is_told_first", [True, False])
def test_what_is_seen_advises_only_where_it_says_why_or_nothing_else_asks(
    fault: Fault,
    seen: Recommendation,
    asked: Recommendation,
    advice: Recommendation,
    *,
    is_told_first: bool,
) -> None:
    pattern, card = replace(works(fault), action=seen), replace(tells(), action=asked)
    docket, _ = told(*((card, pattern) if is_told_first else (pattern, card)))
    assert only(docket).action == advice


LATE = Evidence("compute_seconds", 1.8, 1.5, 4.0, moment(90))
SLOW = Finding(
    node=NODE, rank=5, generation=0, fault=Fault.STRAGGLER, phase=Phase.DEGRADED,
    tier=Tier.PATTERN, confidence=0.98, onset=moment(90), detected_at=moment(100),
    summary="rank 5 is slow", candidates=(Candidate(NODE, 1.0),), evidence=(LATE,),
)  # fmt: skip


@pytest.mark.parametrize("is_told_first", [True, False])
def test_a_slow_rank_and_what_its_card_tells_are_one(*, is_told_first: bool) -> None:
    docket, (fired, both) = told(*((tells(), SLOW) if is_told_first else (SLOW, tells(at=120))))
    assert docket.open == {CARD: both}
    assert (both.id, both.fault, both.tier) == (fired.id, Fault.ECC_ERROR, Tier.KNOWN_ERROR)
    assert (both.rank, both.phase, both.action) == (5, Phase.DEGRADED, RESET)
    assert both.summary == "rank 5 is slow; and GPU 2 of a: Xid 94"
    (well,) = docket.recover(CARD, moment(200), "it is as fast again")
    assert (well.rank, well.phase, well.status) == (None, Phase.SYMPTOM, Status.UPDATED)


@pytest.mark.parametrize(
    "slow",
    [
        replace(SLOW, evidence=(replace(LATE, metric="dataloader_seconds"),)),
        replace(SLOW, fault=Fault.HANG, phase=Phase.FAILED),
        replace(SLOW, node=OTHER),
    ],
    ids=["waits for data", "hangs", "elsewhere"],
)
def test_no_card_tells_why_a_rank_does_something_else(slow: Finding) -> None:
    for findings in ((slow, tells()), (tells(), slow)):
        docket, _ = told(*findings)
        assert len(docket.open) == 2


@pytest.mark.parametrize(
    ("departed", "card", "is_one"),
    [
        (works(), tells(), True),
        (works(gpu=None), tells(), True),
        (works(gpu=1), tells(), False),
        (works(Fault.UNKNOWN), tells(), True),
        (works(Fault.THERMAL_THROTTLE), tells(), False),
        (works(Fault.UNKNOWN), tells(fault=Fault.CUDA_EXECUTION_ERROR), False),
        (works(Fault.PCIE_DOWNGRADE), tells(fault=Fault.GPU_CARD_DROP), True),
        (works(Fault.PCIE_DOWNGRADE, gpu=None), tells(fault=Fault.GPU_CARD_DROP), False),
        (replace(works(), node=OTHER), tells(), False),
    ],
)
def test_one_card_is_one_problem_where_what_it_tells_explains_how_it_works(
    departed: Finding, card: Finding, *, is_one: bool
) -> None:
    for findings in ((departed, card), (card, departed)):
        docket, _ = told(*findings)
        assert len(docket.open) == (1 if is_one else 2)


def test_more_that_the_card_tells_updates_it_and_leaves_how_it_works() -> None:
    docket, (*_, united, worse) = told(tells(), works(), tells(Severity.P1, at=130, code=48))
    assert (worse.id, worse.action) == (united.id, RESET)
    assert worse.summary == "GPU 2 of a lost work; and GPU 2 of a: Xid 48"
    assert [one.value for one in worse.evidence] == [0.8, 48.0]
    assert docket.revise(tells(Severity.P1, at=140, code=48)) == ()


def test_what_the_card_counts_itself_is_told_once() -> None:
    seen = Evidence("xid", 94.0, 0.0, 13.0, moment(90))
    docket, _ = told(replace(works(), evidence=(SLOWER, seen)), tells(at=120))
    assert [one.metric for one in only(docket).evidence] == ["gpu_utilization_ratio", "xid"]
    assert only(docket).evidence[1].peers is None


def test_it_is_no_news_that_the_card_works_differently_still() -> None:
    docket, said = told(tells(), works(), works(at=140))
    assert len(said) == 2
    assert docket.accused == {NODE}


def test_a_card_that_vanishes_has_failed_under_the_id_of_its_symptoms() -> None:
    gone = replace(tells(Severity.P1, Fault.GPU_CARD_DROP, at=130), phase=Phase.FAILED)
    _, (fired, failed) = told(works(Fault.GPU_CARD_DROP), gone)
    assert (failed.id, failed.phase, failed.severity) == (fired.id, Phase.FAILED, Severity.P1)


def test_when_what_it_told_is_over_it_still_works_differently() -> None:
    docket, _ = told(tells(), works())
    (left,) = docket.clear(NODE, Trouble.CARD, moment(200), "its errors are over", 2)
    assert (left.status, left.tier) == (Status.UPDATED, Tier.PATTERN)
    assert left.summary == "its errors are over; GPU 2 of a lost work"
    assert left.evidence == (SLOWER,)
    (ended,) = docket.recover(Subject(NODE, Trouble.DEPARTED), moment(300), "it works again")
    assert ended.status is Status.RESOLVED
    assert not docket.open


def test_when_it_works_again_what_it_told_still_stands() -> None:
    docket, _ = told(tells(), works())
    (left,) = docket.recover(CARD, moment(200), "it works again")
    assert (left.status, left.tier, left.evidence) == (Status.UPDATED, Tier.KNOWN_ERROR, (CODE,))
    assert left.summary == "GPU 2 of a: Xid 94; it works again"
    assert docket.accused == frozenset()
    (ended,) = docket.clear(NODE, Trouble.CARD, moment(300), "its errors are over", 2)
    assert ended.status is Status.RESOLVED


def test_a_successor_knows_that_it_is_about_both() -> None:
    docket, (*_, united) = told(tells(), works())
    successor = Docket(JobName("j"))
    successor.adopt([Verdict.from_json(united.to_json())])
    assert successor.open == docket.open
    assert successor.departed(NODE) == CARD


def test_a_slow_rank_joins_it_beside_how_the_card_works() -> None:
    docket, _ = told(tells(), works())
    computes = Evidence("compute_seconds", 2.0, 1.0, 8.0, moment(95))
    slow = replace(
        works(Fault.STRAGGLER, gpu=None, at=130), rank=5, phase=Phase.DEGRADED,
        summary="rank 5 computes longer", evidence=(computes,),
    )  # fmt: skip
    (both,) = docket.join(CARD, slow)
    assert both.summary == "GPU 2 of a lost work; rank 5 computes longer; and GPU 2 of a: Xid 94"
    assert (both.rank, both.phase, both.fault) == (5, Phase.DEGRADED, Fault.ECC_ERROR)
    (again,) = docket.revise(tells(Severity.P1, at=140, code=48))
    assert "rank 5 computes longer; and GPU 2 of a: Xid 48" in again.summary
    (left,) = docket.recover(CARD, moment(300), "it works again")
    assert (left.rank, left.phase) == (None, Phase.SYMPTOM)


def test_codes_alone_and_a_bad_past_are_not_about_how_a_card_works() -> None:
    docket, (fired,) = told(tells())
    assert not is_with_departure(fired)
    often = Evidence("failures", 4.0, 0.1, 9.0, moment(0))
    assert not is_with_departure(replace(fired, fault=Fault.NODE_FAILURE_RATE, evidence=(often,)))
    assert docket.accused == frozenset()


LOST = Finding(
    node=NODE, rank=4, generation=0, fault=Fault.MACHINE_UNREACHABLE, phase=Phase.FAILED,
    tier=Tier.HEARTBEAT, confidence=0.99, onset=moment(150), detected_at=moment(160),
    summary="a is silent", candidates=(), evidence=(Evidence("heartbeat", None, 1, -9, moment(1)),),
)  # fmt: skip


def test_a_machine_that_is_lost_has_failed_under_the_id_of_its_symptoms() -> None:
    docket, (fired, failed) = told(works(), LOST)
    assert docket.open == {Subject(NODE, Trouble.ALIVE): failed}
    assert (failed.id, failed.fault, failed.rank) == (fired.id, Fault.MACHINE_UNREACHABLE, 4)
    assert (failed.onset, failed.failed_at) == (fired.onset, LOST.onset)
    assert failed.summary == "a is silent; before that, GPU 2 of a lost work"
    assert [one.metric for one in failed.evidence] == ["heartbeat", "gpu_utilization_ratio"]
    assert docket.report(LOST) == ()


def test_a_machine_that_is_lost_leaves_what_is_told_of_others() -> None:
    docket, _ = told(works(), replace(LOST, node=OTHER))
    assert len(docket.open) == 2
