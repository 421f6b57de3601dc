"""The run: train, examine, keep; whatever was kept by an earlier run is not done again."""

from __future__ import annotations

import multiprocessing
import re
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from paramedic.diagnosis.benchmark import working
from paramedic.diagnosis.benchmark.episodes import Part
from paramedic.diagnosis.benchmark.errors import WorkerLostError
from paramedic.diagnosis.benchmark.guard import is_disturbed
from paramedic.diagnosis.benchmark.roster import examines_everything
from paramedic.diagnosis.benchmark.working import Examined, Worker

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from paramedic.diagnosis.benchmark.episodes import Drawn, EpisodeSource
    from paramedic.diagnosis.benchmark.ledger import ResultsLedger
    from paramedic.models.detection import FaultyMachineDetector

Done = TypeVar("Done")


class Progress(Protocol):
    """Is told how far it has come."""

    def stage(self, words: str, total: int) -> None:
        """Something begins that has so many steps."""
        ...

    def advance(self, words: str) -> None:
        """One more step is done."""
        ...


@dataclass(frozen=True, slots=True)
class Task:
    """An episode, and who has not examined it yet."""

    drawn: Drawn
    detectors: tuple[str, ...]


class Crew(Protocol):
    """Does the work, in this process or in others."""

    def train(
        self, detectors: Sequence[FaultyMachineDetector]
    ) -> Generator[FaultyMachineDetector, None, None]:
        """Trained ones, in the order in which they are done."""
        ...

    def examine(
        self, detectors: Sequence[FaultyMachineDetector], tasks: Sequence[Task]
    ) -> Generator[Examined, None, None]:
        """What came of each task, in the order in which they are done."""
        ...


@dataclass(frozen=True, slots=True)
class LoneCrew:
    """All in this process, one after the other."""

    source: EpisodeSource

    def train(
        self, detectors: Sequence[FaultyMachineDetector]
    ) -> Generator[FaultyMachineDetector, None, None]:
        """Train one after the other."""
        worker = Worker(self.source, detectors)
        for names in sharing(detectors):
            yield from worker.train(names)

    def examine(
        self, detectors: Sequence[FaultyMachineDetector], tasks: Sequence[Task]
    ) -> Generator[Examined, None, None]:
        """Examine one after the other."""
        worker = Worker(self.source, detectors)
        yield from (worker.examine(task.drawn, task.detectors) for task in tasks)


@dataclass(frozen=True, slots=True)
class ProcessCrew:
    """So many processes of their own; ended whatever happens here."""

    source: EpisodeSource
    processes: int

    def train(
        self, detectors: Sequence[FaultyMachineDetector]
    ) -> Generator[FaultyMachineDetector, None, None]:
        """Train side by side."""
        with self._pool(detectors) as pool:
            tasks = [pool.submit(working.train, names) for names in sharing(detectors)]
            for some in _as_done(tasks):
                yield from some

    def examine(
        self, detectors: Sequence[FaultyMachineDetector], tasks: Sequence[Task]
    ) -> Generator[Examined, None, None]:
        """Examine side by side."""
        with self._pool(detectors) as pool:
            yield from _as_done(
                [pool.submit(working.examine, one.drawn, one.detectors) for one in tasks]
            )

    @contextmanager
    def _pool(self, detectors: Sequence[FaultyMachineDetector]) -> Iterator[ProcessPoolExecutor]:
        """Fresh processes: what a fork of a process with threads inherits may hang."""
        pool = ProcessPoolExecutor(
            self.processes,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=working.join,
            initargs=(self.source, tuple(detectors)),
        )
        others = set(multiprocessing.active_children())
        is_done = False
        try:
            yield pool
            is_done = True
        finally:
            if not is_done:  # what they are at may take minutes, and nobody waits for it any more
                for process in set(multiprocessing.active_children()) - others:
                    process.kill()  # for some libraries answer SIGTERM themselves
            pool.shutdown(cancel_futures=True)


def sharing(detectors: Sequence[FaultyMachineDetector]) -> list[list[str]]:
    """Names of those that may share what they learn: the first word of their names is the same."""
    groups: dict[str, list[str]] = {}
    for one in detectors:
        groups.setdefault(re.split("[_@]", one.name)[0], []).append(one.name)
    return list(groups.values())


def _as_done(futures: Sequence[Future[Done]]) -> Iterator[Done]:
    """Raises WorkerLostError when a process has gone."""
    try:
        yield from (future.result() for future in as_completed(futures))
    except BrokenProcessPool as error:
        raise WorkerLostError(
            "a worker process was ended from outside, perhaps for lack of memory: run the same "
            "again, with fewer --workers, and it goes on where it stopped"
        ) from error


def run(
    source: EpisodeSource,
    detectors: Sequence[FaultyMachineDetector],
    ledger: ResultsLedger,
    crew: Crew,
    progress: Progress,
) -> None:
    """Have every detector examine every validation and test episode that it has not yet examined.

    Nothing is chosen on validation for who has one threshold alone.

    Raises ResultsError when the ledger cannot be written.
    """
    episodes = [*source.draw(Part.VALIDATION), *source.draw(Part.TEST)]
    tasks = [task for task in _tasks(episodes, detectors, ledger) if task.detectors]
    needed = {name for task in tasks for name in task.detectors}
    untrained = [one for one in detectors if one.name in needed]
    if not tasks:
        return
    progress.stage("training", len(untrained))
    trained = []
    with closing(crew.train(untrained)) as done:
        for detector in done:
            trained.append(detector)
            progress.advance(detector.name)
    progress.stage("examining", len(tasks))
    with closing(crew.examine(trained, tasks)) as episodes_done:
        for examined in episodes_done:
            ledger.add(examined.facts, examined.results)
            progress.advance(examined.facts.name)


def _tasks(
    episodes: Sequence[Drawn], detectors: Sequence[FaultyMachineDetector], ledger: ResultsLedger
) -> Iterator[Task]:
    for drawn in episodes:
        missing = (
            one.name
            for one in detectors
            if _is_for(drawn, one) and not ledger.has(drawn.name, one.name)
        )
        yield Task(drawn, tuple(missing))


def _is_for(drawn: Drawn, detector: FaultyMachineDetector) -> bool:
    """Whether the detector examines the episode at all."""
    if drawn.part is Part.VALIDATION and len(detector.thresholds) == 1:
        return False
    if is_disturbed(detector.name):
        return drawn.is_for_disturbed
    return drawn.is_for_variants or examines_everything(detector.name)
