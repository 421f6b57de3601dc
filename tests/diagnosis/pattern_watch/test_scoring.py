"""One job and one model: long windows are read in pieces, and nothing of them twice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from diagnosis.pattern_watch.makings import FIRST, JOB, Clock, FakeModel, served, windows_at
from models.registry.models_of_ours import METRICS
from paramedic.diagnosis.pattern_watch.feed import Handover
from paramedic.diagnosis.pattern_watch.scoring import JobScoring
from paramedic.ingest.contract import Entity


def handover_of(slots: int, first: int = 0) -> Handover:
    window = windows_at(first)[Entity.GPU]
    values = np.zeros((len(window.rows), len(METRICS), slots), np.float32)
    long = replace(
        window, first_second=FIRST + first, values=values, observed=np.ones(values.shape, np.bool_)
    )
    return Handover({Entity.GPU: long}, is_whole=True)


def test_a_whole_window_is_read_in_pieces_in_order() -> None:
    model = FakeModel(served(1), Clock())
    scoring = JobScoring(JOB, model, handover_of(25))
    scoring.take(handover_of(1, first=25))
    assert model.scorers[0].seen == list(range(26))
    assert model.read[0].seen == list(range(26))
    assert scoring.patterns().oddest_nats == 25.0


def test_an_end_waits_for_one_piece_and_not_for_the_window() -> None:
    model = FakeModel(served(1), Clock())
    asked = iter([False, False, True])
    JobScoring(JOB, model, handover_of(60), lambda: next(asked))
    assert model.scorers[0].seen == list(range(20))


def test_it_is_told_what_it_is_scored_with_and_what_fits() -> None:
    scoring = JobScoring(JOB, FakeModel(served(None), Clock()), handover_of(12))
    told = scoring.patterns()
    assert (told.model, told.version) == ("small", None)
    assert (told.fit.usable, told.fit.missing, told.fit.new) == (METRICS, (), ())
