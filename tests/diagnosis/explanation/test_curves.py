"""What one machine did, and the band of its peers, out of batches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.explanation.verdict import POWER, START, TENSOR, a_verdict, at, batches
from paramedic.diagnosis.contract import Evidence, Scope
from paramedic.diagnosis.explanation.curves import Curve, CurveReader, Whose
from paramedic.diagnosis.explanation.depicting import depiction_of
from paramedic.ingest.contract import Entity, JobName, NodeName, Table, TelemetryBatch

A = frozenset([NodeName("a")])
SPAN = range(START + 70, START + 75)


def read(*metrics: str, whose: Whose, gone: frozenset[str] = frozenset()) -> list[Curve]:
    return CurveReader(metrics, whose, SPAN).read(batches(gone=gone))


def test_a_gpu_stands_against_all_the_others() -> None:
    (curve,) = read(TENSOR, whose=Whose(A, gpu=1))
    assert curve.seconds.tolist() == list(SPAN)
    assert curve.machine.tolist() == pytest.approx([0.41, 0.41, 0.2, 0.2, 0.2])
    assert curve.peers == 9
    assert curve.band[:, 0].tolist() == pytest.approx([0.40, 0.416, 0.45, 0.482, 0.49])


def test_a_node_is_the_median_of_its_gpus_against_its_role_mates() -> None:
    (curve,) = read(TENSOR, whose=Whose(A, peers=frozenset([NodeName("c"), NodeName("d")])))
    assert curve.machine[0] == pytest.approx(0.405)
    assert (curve.peers, curve.band[0, 0], curve.band[-1, 0]) == (4, 0.44, pytest.approx(0.47))


def test_whoever_falls_silent_is_seen_to_be_silent() -> None:
    tensor, beats = read(TENSOR, "heartbeat", whose=Whose(A), gone=frozenset("a"))
    assert beats.machine.tolist() == [1, 1, 0, 0, 0]
    assert beats.band[2].tolist() == [1, 1, 1, 1, 1]
    assert np.isnan(tensor.machine[2:]).all()


def test_of_a_whole_job_there_is_a_band_and_no_machine() -> None:
    (beats,) = read("heartbeat", whose=Whose(frozenset()), gone=frozenset("abcde"))
    assert np.isnan(beats.machine).all()
    assert beats.band[2].tolist() == [1, 1, 0, 0, 0]


def test_metrics_that_the_machine_does_not_send_are_left_out() -> None:
    assert [one.metric for one in read("loss", POWER, whose=Whose(A))] == [POWER]
    assert read(TENSOR, whose=Whose(frozenset([NodeName("z")]))) == []


@given(st.lists(st.floats(-1e6, 1e6) | st.just(float("nan")), min_size=1, max_size=40))
def test_the_band_holds_every_peer_and_is_in_order(values: list[float]) -> None:
    nodes = tuple(NodeName(f"n{number}") for number in range(len(values) + 1))
    table = Table(Entity.NODE, nodes, None, {"m": [1.0, *values]})
    batch = TelemetryBatch(JobName("j"), 0, START, (table,))
    reader = CurveReader(["m"], Whose(frozenset([nodes[0]])), range(START, START + 1))
    (curve,) = reader.read([batch])
    known = [value for value in values if value == value]
    assert np.isnan(curve.band).all() == (not known)
    if known:
        assert (curve.band[0, 0], curve.band[-1, 0]) == (min(known), max(known))
        assert (np.diff(curve.band[:, 0]) >= 0).all()


def test_a_figure_shows_the_leading_metric_then_the_strongest_and_time_around_them() -> None:
    depiction = depiction_of(a_verdict(), {}, 1.0)
    assert depiction.evidence == (TENSOR, POWER, "gpu_temperature_celsius")
    assert depiction.seconds == range(START + 12, START + 102)
    assert (depiction.whose.nodes, depiction.whose.gpu) == (A, 1)
    assert depiction.chosen(read(*depiction.metrics, whose=depiction.whose))[0].metric == TENSOR


def test_slow_sources_are_shown_long_enough_to_see_something() -> None:
    depiction = depiction_of(a_verdict(), {}, 30.0)
    assert depiction.seconds == range(START + 72 - 240, START + 81 + 121)


def test_peers_are_those_of_the_stage_where_there_are_enough() -> None:
    stages = {NodeName(name): 0 if name < "e" else 1 for name in "abcdefg"}
    assert depiction_of(a_verdict(), stages, 1.0).whose.peers == frozenset("bcd")
    assert depiction_of(a_verdict(node=NodeName("f")), stages, 1.0).whose.peers is None
    group = a_verdict(scope=Scope.GROUP, node=None, gpu=None, members=tuple(stages)[:3])
    assert depiction_of(group, stages, 1.0).whose.nodes == frozenset("abc")


def test_what_is_no_amount_is_shown_with_others_beside_it() -> None:
    reported = a_verdict(evidence=(Evidence("xid", 79.0, None, 0.0, at(72)),))
    depiction = depiction_of(reported, {}, 1.0)
    shown = depiction.chosen(read(*depiction.metrics, whose=depiction.whose))
    assert [one.metric for one in shown] == ["heartbeat", TENSOR, POWER]
