"""A GPU that departs from its peers: how its evidence stands, and its verdict's figure."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache

import pytest

from diagnosis.crowd import JOB, POWER, START, TENSOR, Crowd, name, slow
from diagnosis.playing import Fact, merged, tell
from paramedic.diagnosis.contract import Tier, Verdict
from paramedic.diagnosis.detector import DetectorConfig, JobDetector
from paramedic.diagnosis.explanation.considering import considered
from paramedic.diagnosis.explanation.curves import CurveReader
from paramedic.diagnosis.explanation.depicting import depiction_of
from paramedic.diagnosis.settings import DepartureSettings
from paramedic.ingest.contract import Event, EventKind

pytestmark = pytest.mark.long
CROWD = Crowd(nodes=6, gpus=2, seconds=75, faults=slow(3, 0.5, gpu=1))
CONFIG = DetectorConfig(departure=DepartureSettings(settle_seconds=15))


def facts() -> list[Fact]:
    began = Event(
        datetime.fromtimestamp(START - 1, UTC),
        EventKind.JOB_STATE,
        JOB,
        details={"state": "training"},
    )
    return merged(CROWD.batches(), [began])


@cache
def judged(until: int) -> tuple[JobDetector, tuple[Verdict, ...]]:
    detector = CONFIG.build(JOB)
    return detector, tuple(tell(detector, facts()[:until]))


def test_the_gpu_has_more_evidence_against_it_than_its_siblings_and_others() -> None:
    detector, _said = judged(50)
    rows = [
        one
        for node in (3, 4)
        for one in detector.standing(name(node))
        if one.tier is Tier.PATTERN and one.subject.index is not None and one.evidence is not None
    ]
    strongest = max(rows, key=lambda one: one.share)
    assert (strongest.subject.node, strongest.subject.index) == (name(3), 1)
    assert 0 < strongest.share < 1
    assert strongest.since is not None
    assert strongest.since.timestamp() - START >= 45


def test_when_it_is_decided_the_evidence_is_above_what_decides() -> None:
    detector, (verdict, *_) = judged(75)
    found = considered(verdict, detector)
    assert max(one.share for one in found) >= 1
    assert {one.tier for one in found} == {Tier.HEARTBEAT, Tier.PATTERN, Tier.KNOWN_ERROR}


def test_its_figure_shows_the_metric_that_it_lost() -> None:
    _detector, (verdict, *_) = judged(75)
    depiction = depiction_of(verdict, {}, 1.0)
    curves = CurveReader(depiction.metrics, depiction.whose, depiction.seconds).read(
        CROWD.batches()
    )
    lead = depiction.chosen(curves)[0]
    assert lead.metric in (TENSOR, POWER)
    assert lead.peers == 11
    late = lead.seconds > verdict.detected_at.timestamp()
    assert (lead.machine[late] < lead.band[0, late]).all()
