"""Explanations of what the detector really says: each kind of verdict, from its own telemetry."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import pytest

from diagnosis.playing import merged, tell
from diagnosis.synthetic import JOB, Scene, event, exit_of, job_state, node_name
from paramedic.diagnosis.contract import Status, Verdict
from paramedic.diagnosis.detector import DetectorConfig
from paramedic.diagnosis.explanation.considering import considered
from paramedic.diagnosis.explanation.curves import PRESENCE, CurveReader
from paramedic.diagnosis.explanation.depicting import Depiction, depiction_of
from paramedic.diagnosis.explanation.explained import Explanation
from paramedic.diagnosis.explanation.measures import measure_of
from paramedic.diagnosis.explanation.telling import lines_of_verdict
from paramedic.ingest.contract import Event, EventKind

pytestmark = pytest.mark.long
XID = replace(event(EventKind.XID, 40, node_name(2), xid=79), gpu=0)


@dataclass(frozen=True)
class Case:
    """What happens, and what an explanation of it has to say."""

    scene: Scene
    events: tuple[Event, ...]
    words: tuple[str, ...]
    panels: tuple[str, ...]


CASES = {
    "hang": Case(
        Scene(ranks=4, seconds=45, frozen={1: 30}),
        (),
        (
            "hang: the rank's process is there and gets nowhere (has failed)",
            "node-0001, which carries rank 1",
            "heartbeat: not heard since",
            "process stopped: 1",
            "  named\n  node-0000  0",
            "that confirms the silence",
        ),
        ("heartbeat", "process_stopped", "cpu_utilization_ratio"),
    ),
    "straggler": Case(
        Scene(ranks=4, seconds=60, slow={2: 2.0}, slow_from=30),
        (),
        (
            "straggler: the rank takes longer over its own work",
            "compute: ",
            "standard deviations above them",
            "██████████  rank 2 of node-0002, compute:",
            "its heart-beats go on",
            "no Xid, SXid, error state",
            "replace_rank: every rank of the job waits for the slowest one",
        ),
        ("compute_seconds", "cpu_utilization_ratio", "collective_seconds"),
    ),
    "reported": Case(
        Scene(ranks=4, seconds=45),
        (XID,),
        (
            "gpu_card_drop: a GPU is no longer there",
            "GPU 0 of node-0002",
            "decided 0 s later",
            "Xid: 79; since",
            "an error that was reported, which is hard evidence",
            "it accuses, as P1",
        ),
        ("heartbeat", "step_seconds", "cpu_utilization_ratio"),
    ),
    "exit": Case(
        Scene(ranks=4, seconds=45),
        (exit_of(3, 40),),
        ("process_exit: the rank's process has ended", "node-0003, which carries rank 3"),
        ("heartbeat", "step_seconds", "cpu_utilization_ratio"),
    ),
    "standstill": Case(
        Scene(ranks=4, seconds=45, frozen=dict.fromkeys(range(4), 30)),
        (),
        (
            "throughput_drop: the whole job has become slower, or stands still",
            "the job as a whole, nobody in particular",
            "P0: the job cannot go on",
            "notify: every rank is affected",
        ),
        ("heartbeat", "step_seconds", "cpu_utilization_ratio"),
    ),
}


@cache
def explained(name: str) -> Explanation:
    """The first verdict of a case, with what was considered in the moment of its firing."""
    case, detector = CASES[name], DetectorConfig().build(JOB)
    for fact in merged(case.scene.batches(), [job_state("training", 0), *case.events]):
        for verdict in tell(detector, [fact]):
            return Explanation((verdict,), considered(verdict, detector))
    raise AssertionError(f"{name} gave no verdict")


def depicted(verdict: Verdict) -> Depiction:
    return depiction_of(verdict, {}, 1.0)


@pytest.mark.parametrize("name", CASES)
def test_a_verdict_is_explained_in_words_of_its_kind(name: str) -> None:
    said = "\n".join(lines_of_verdict(explained(name)))
    for words in CASES[name].words:
        assert words in said


@pytest.mark.parametrize("name", CASES)
def test_its_figure_has_curves_around_both_moments(name: str) -> None:
    verdict = explained(name).verdict
    depiction = depicted(verdict)
    batches = CASES[name].scene.batches()
    reader = CurveReader(depiction.metrics, depiction.whose, depiction.seconds)
    curves = depiction.chosen(reader.read(batches))
    assert tuple(one.metric for one in curves) == CASES[name].panels
    for curve in curves:
        assert curve.seconds[0] <= verdict.onset.timestamp() <= curve.seconds[-1]
        assert curve.peers in (3, 4)
        heard = curve.machine == curve.machine
        assert heard.any() == (verdict.node is not None), curve.metric
        assert heard.all() or curve.metric not in PRESENCE or verdict.node is None


@pytest.mark.parametrize("name", CASES)
def test_the_named_machine_is_considered_first_and_others_by_one_line_each(name: str) -> None:
    verdict, found = explained(name).verdict, explained(name).considered
    own = [one for one in found if one.subject.node == verdict.node]
    assert bool(own) == (verdict.node is not None)
    assert list(found[: len(own)]) == own
    others = [one.subject.node for one in found[len(own) :]]
    assert len(others) == len(set(others)) <= 3


def test_data_and_words_say_the_same() -> None:
    explanation = explained("straggler")
    fields, said = explanation.to_dict(), "\n".join(lines_of_verdict(explanation))
    assert fields["verdict"]["summary"] in said
    assert f"decided {fields['seconds_to_decide']:.0f} s later" in said
    for one in fields["considered"]:
        assert f"{measure_of(one['kind']).name}: " in said
        assert one["note"] in said
    assert explanation.verdict.status is Status.FIRING
