"""What a worker does, and what becomes of workers when something goes wrong."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from diagnosis.benchmark.staged import (
    BEGIN,
    Fatal,
    Heard,
    Seeing,
    StagedSource,
    Stubborn,
    facts,
    fault,
    history,
    silent,
)
from paramedic.diagnosis.benchmark.episodes import Drawn, Episode, Part
from paramedic.diagnosis.benchmark.errors import WorkerLostError
from paramedic.diagnosis.benchmark.labelling import labelled
from paramedic.diagnosis.benchmark.ledger import ResultsLedger
from paramedic.diagnosis.benchmark.running import ProcessCrew, run
from paramedic.diagnosis.benchmark.working import Worker
from paramedic.models.detection import MarkedHistory
from paramedic.models.history import JobHistory

TEST = StagedSource().draw(Part.TEST)[1]


@dataclass(frozen=True)
class Counting(StagedSource):
    lived: list[str] = field(default_factory=list)

    def live(self, drawn: Drawn) -> Episode:
        self.lived.append(drawn.name)
        return super().live(drawn)


def test_training_jobs_are_lived_once_for_all_detectors() -> None:
    source, seeing, other = Counting(), Seeing(), Seeing("other")
    worker = Worker(source, [seeing, other])
    trained = worker.train(["paramedic"]) + worker.train(["other"])
    assert [one.name for one in trained] == ["paramedic", "other"]
    assert source.lived == [f"train-{n}" for n in range(4)]
    assert (seeing.learned_from, other.learned_from) == ([4], [4])


class Untaught(Seeing):
    """Comes as it is."""

    def train(self, histories: Iterable[JobHistory]) -> None:
        """Nothing to learn."""


def test_training_jobs_are_not_lived_for_those_who_learn_nothing() -> None:
    source = Counting()
    Worker(source, [Untaught()]).train(["paramedic"])
    assert source.lived == []


def test_an_episode_is_lived_once_for_all_detectors_and_each_pays_its_own_time() -> None:
    ticks = iter([0.0, 2.0, 10.0, 10.5])
    source = Counting()
    worker = Worker(source, [Seeing(), silent()], clock=lambda: next(ticks))
    examined = worker.examine(TEST, ["paramedic", "minder"])
    assert source.lived == ["test-1"]
    assert [one.compute_seconds for one in examined.results] == [2.0, 0.5]
    assert set(examined.results[0].alarms) == {0.1, 0.5, 9.0}


@dataclass
class Taught(Seeing):
    """Takes labels, and keeps how many slots of each example were faulty."""

    taught: list[tuple[int, int]] = field(default_factory=list)

    def train_on_labels(self, examples: Sequence[MarkedHistory]) -> None:
        assert self.learned_from
        self.taught = [(len(one.history.seconds), int(one.is_faulty.sum())) for one in examples]


def test_labels_are_for_those_who_ask_for_them_and_only_of_jobs_with_a_fault() -> None:
    taught = Taught()
    Worker(StagedSource(), [taught, silent()]).train(["paramedic", "minder"])
    assert taught.taught == [(200, 150)] * 2  # from the fiftieth second on


def test_a_label_ends_with_its_fault_or_the_job_and_a_group_has_none() -> None:
    over = fault(1, at=50, end=BEGIN + 70)
    halted = fault(2, at=80, halted_at=BEGIN + 99)
    group = fault(0, 1, 2, at=5, is_group=True)
    some = [Episode(facts(*faults), history(faults)) for faults in ((over, halted), (group,), ())]
    (only,) = labelled(some)
    assert len(only.history.seconds) == len(only.is_faulty) == 100
    faulty = set(np.flatnonzero(only.is_faulty).tolist())
    assert faulty == {*range(50, 70), *range(80, 100)}


def test_only_who_is_asked_examines() -> None:
    worker = Worker(StagedSource(), [Seeing(), silent()])
    assert [one.detector for one in worker.examine(TEST, ["minder"]).results] == ["minder"]


@pytest.mark.connected
def test_a_lost_worker_is_one_line_and_what_was_done_is_kept(tmp_path: Path) -> None:
    source, ledger = StagedSource(), ResultsLedger(tmp_path, {})
    run(source, [silent()], ledger, ProcessCrew(source, 1), Heard())
    with pytest.raises(WorkerLostError, match="goes on where it stopped"):
        run(source, [silent(), Fatal()], ledger, ProcessCrew(source, 1), Heard())
    assert ResultsLedger(tmp_path, {}).has("test-1", "minder")


class Impatient(Heard):
    """Presses Ctrl-C when the first episode is done."""

    def advance(self, words: str) -> None:
        if words.startswith("validation"):
            raise KeyboardInterrupt


@pytest.mark.connected
def test_nobody_waits_for_workers_when_the_run_is_broken_off(tmp_path: Path) -> None:
    source, ledger = StagedSource(), ResultsLedger(tmp_path, {})
    crew = ProcessCrew(source, 2)
    with pytest.raises(KeyboardInterrupt) as broken_off:
        run(source, [silent(), Stubborn("other")], ledger, crew, Impatient())
    assert multiprocessing.active_children() == []
    assert broken_off.traceback
    assert ledger.results
