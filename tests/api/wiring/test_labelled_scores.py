"""Known faults of the recordings are looked for with the new model, and honestly counted."""

from __future__ import annotations

import io

import numpy as np
import pytest

from api.wiring.naming import Named
from paramedic.api.wiring.labelled_scores import labelled_scores
from paramedic.ingest.contract import Entity, EntityKey, JobName, NodeName, Window
from paramedic.models.histories.labelled import LabelledHistory
from paramedic.models.histories.labels import KnownFault, Labels
from paramedic.models.history import JobHistory

START = 10_000


def stretch(job: str, broken: str | None, nodes: str = "abcd") -> LabelledHistory:
    """A minute of some machines, one of which may have been broken for the last half of it."""
    rows = tuple(EntityKey(Entity.NODE, NodeName(node)) for node in nodes)
    values = np.zeros((len(nodes), 1, 60), np.float32)
    seen = np.ones_like(values, np.bool_)
    window = Window(JobName(job), 0, Entity.NODE, START, rows, ("m",), values, seen)
    fault = KnownFault("ecc_error", (NodeName(broken),), START + 30) if broken else None
    labels = Labels((fault,) if fault else ())
    return LabelledHistory(job, JobHistory(JobName(job), {Entity.NODE: window}), labels)


def scored(*seen: LabelledHistory) -> tuple[dict[str, float], str]:
    """The scores of a detector that always accuses `a`, and what is said."""
    said = io.StringIO()
    return dict(labelled_scores(Named("a"), seen, said)), said.getvalue()


def test_where_nothing_is_known_nothing_is_measured_or_said() -> None:
    assert scored(stretch("j1", None), stretch("j2", None)) == ({}, "")


def test_faults_of_one_job_are_not_enough_and_that_is_said() -> None:
    scores, said = scored(stretch("j1", "a"), stretch("j1", "b"), stretch("j2", None))
    assert scores == {}
    assert "in one job alone" in said


@pytest.mark.parametrize(("broken", "f1"), [("a", 1.0), ("b", 0.0)])
def test_a_fault_is_found_where_the_right_machine_is_accused(broken: str, f1: float) -> None:
    scores, said = scored(stretch("j1", "a"), stretch("j2", broken))
    assert (scores["labelled_f1"], scores["labelled_episodes"]) == (f1, 1)
    assert "2 jobs" in said


def test_recordings_of_which_nothing_is_known_count_as_healthy() -> None:
    seen = [stretch(job, "a" if job < "j3" else None) for job in ("j1", "j2", "j3", "j4")]
    scores, _ = scored(*seen)
    assert scores["labelled_recall"] == 1.0
    assert scores["labelled_precision"] == 0.5
    assert scores["labelled_false_alarms_per_job_day"] == 24 * 60


def test_what_was_not_measured_is_left_out() -> None:
    scores, _ = scored(stretch("j1", "a"), stretch("j2", "b"))
    assert "labelled_delay_p50_seconds" not in scores
    assert all(np.isfinite(one) for one in scores.values())
