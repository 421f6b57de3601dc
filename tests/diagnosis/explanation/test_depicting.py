"""What a figure shows of any verdict: the moments, the machine, and what it is compared with."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.explanation.verdict import POWER, START, TENSOR, a_verdict, at, batches
from paramedic.diagnosis.contract import Evidence, Scope, Verdict
from paramedic.diagnosis.explanation.curves import Curve, CurveReader
from paramedic.diagnosis.explanation.depicting import MOST_PANELS, Depiction, depiction_of
from paramedic.diagnosis.explanation.figure import draw
from paramedic.ingest.contract import NodeName

MEMBERS = tuple(NodeName(name) for name in "abc")
GROUP = a_verdict(scope=Scope.GROUP, node=None, gpu=None, members=MEMBERS)
JOB = a_verdict(scope=Scope.JOB, node=None, gpu=None, evidence=a_verdict().evidence[:1])


def curves_of(depiction: Depiction, gone: frozenset[str] = frozenset()) -> list[Curve]:
    reader = CurveReader(depiction.metrics, depiction.whose, depiction.seconds)
    return depiction.chosen(reader.read(batches(gone=gone)))


@given(st.floats(0, 1e5), st.floats(-10, 1e4), st.sampled_from([0.5, 1.0, 15.0, 30.0, 3600.0]))
def test_both_moments_and_enough_samples_are_shown_and_never_the_whole_day(
    began: float, lasted: float, cadence: float
) -> None:
    verdict = a_verdict(onset=at(began), detected_at=at(began + lasted))
    shown = depiction_of(verdict, {}, cadence).seconds
    moments = (verdict.onset.timestamp(), verdict.detected_at.timestamp())
    assert shown.start <= moments[0]
    assert shown.stop > max(moments)
    assert moments[0] - shown.start >= min(60, 8 * cadence)
    assert len(shown) <= max(lasted, 0) + 720 + 12 * cadence + 2


@given(st.lists(st.tuples(st.sampled_from("pqrstu"), st.floats(-50, 50)), max_size=9))
def test_the_lead_comes_first_and_the_others_by_their_strength_each_once(
    evidence: list[tuple[str, float]],
) -> None:
    lines = tuple(Evidence(name, 1.0, 1.0, deviation, at(0)) for name, deviation in evidence)
    metrics = depiction_of(a_verdict(evidence=lines), {}, 1.0).evidence
    assert set(metrics) == {one.metric for one in lines}
    assert len(metrics) == len(set(metrics))
    if lines:
        assert metrics[0] == lines[0].metric
        strongest = {
            name: max(abs(one.deviation) for one in lines[1:] if one.metric == name)
            for name in metrics[1:]
        }
        assert list(strongest.values()) == sorted(strongest.values(), reverse=True)


def test_no_more_than_four_panels_are_drawn() -> None:
    curve = curves_of(depiction_of(a_verdict(), {}, 1.0))[0]
    depiction = depiction_of(a_verdict(), {}, 1.0)
    assert len(depiction.chosen([curve] * 9)) == MOST_PANELS


def test_a_group_is_the_median_of_its_members_and_a_job_has_no_line() -> None:
    group, job = depiction_of(GROUP, {}, 1.0), depiction_of(JOB, {}, 1.0)
    assert (group.scene.machine, group.whose.nodes) == ("median of a, b, c", frozenset(MEMBERS))
    assert [one.peers for one in curves_of(group)] == [4, 4]
    assert job.scene.peers == "members of the job"
    (curve,) = curves_of(job)
    assert (curve.metric, curve.peers) == (TENSOR, 10)
    assert not (curve.machine == curve.machine).any()


def test_a_rank_is_named_by_its_node_and_a_card_by_both() -> None:
    rank = a_verdict(scope=Scope.NODE, gpu=None, rank=7)
    assert depiction_of(rank, {}, 1.0).scene.machine == "a (rank 7)"
    assert depiction_of(a_verdict(), {}, 1.0).scene.machine == "GPU 1 of a"


def test_what_is_over_is_titled_by_what_it_was() -> None:
    over = a_verdict(summary="it works again; it was: GPU 1 of a is slow")
    assert depiction_of(over, {}, 1.0).scene.title == "P1 ecc_error: GPU 1 of a is slow"


def test_the_first_decision_is_the_one_that_is_marked() -> None:
    later = a_verdict(detected_at=at(200), first_detected_at=at(81))
    assert depiction_of(later, {}, 1.0).scene.decided == at(81)
    assert depiction_of(later, {}, 1.0).seconds.stop < START + 200


@pytest.mark.long
@pytest.mark.parametrize("verdict", [GROUP, JOB], ids=["group", "job"])
@pytest.mark.parametrize("gone", [frozenset(), frozenset("abcde")], ids=["there", "gone"])
def test_every_scope_can_be_drawn(verdict: Verdict, gone: frozenset[str]) -> None:
    depiction = depiction_of(verdict, {}, 1.0)
    draw(depiction.scene, curves_of(depiction, gone), "svg", target := io.BytesIO())
    said = target.getvalue().decode()
    assert "decided 00:01:21" in said
    assert ("median of a, b, c" in said) == (verdict is GROUP)
    assert POWER not in said  # people read names, not ids
