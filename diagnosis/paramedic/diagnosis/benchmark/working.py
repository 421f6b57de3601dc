"""What happens in a worker process: a detector is trained, or all examine one episode."""

from __future__ import annotations

import logging
import signal
import sys
import time
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paramedic.diagnosis.benchmark.episodes import Disturbs, Part
from paramedic.diagnosis.benchmark.labelling import labelled
from paramedic.diagnosis.benchmark.orphans import end_with_parent
from paramedic.diagnosis.benchmark.results import Result
from paramedic.models.detection import LearnsFromLabels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from paramedic.diagnosis.benchmark.episodes import Drawn, Episode, EpisodeSource, Facts
    from paramedic.models.detection import FaultyMachineDetector
    from paramedic.models.history import JobHistory


@dataclass(frozen=True, slots=True)
class Examined:
    """What came of an episode."""

    facts: Facts
    results: tuple[Result, ...]


@dataclass(slots=True)
class Worker:
    """Holds what every task of one process needs."""

    source: EpisodeSource
    detectors: Sequence[FaultyMachineDetector]
    clock: Callable[[], float] = time.process_time
    _past: list[Episode] = field(default_factory=list)

    def train(self, names: Sequence[str]) -> list[FaultyMachineDetector]:
        """Train these one after the other, for they may share what they learn; hand them back."""
        detectors = [self._named(name) for name in names]
        for detector in detectors:
            detector.train(_Past(self._training_episodes))
            if isinstance(detector, LearnsFromLabels):
                detector.train_on_labels(list(labelled(self._training_episodes())))
        return detectors

    def examine(self, drawn: Drawn, names: Sequence[str]) -> Examined:
        """Live an episode and have these detectors examine it, one after the other."""
        episode = self.source.live(drawn)
        results = [self._result(self._named(name), episode) for name in names]
        return Examined(episode.facts, tuple(results))

    def _named(self, name: str) -> FaultyMachineDetector:
        return next(one for one in self.detectors if one.name == name)

    def _training_episodes(self) -> list[Episode]:
        if not self._past:
            self._past = [self.source.live(one) for one in self.source.draw(Part.TRAIN)]
        return self._past

    def _result(self, detector: FaultyMachineDetector, episode: Episode) -> Result:
        name = episode.facts.name
        seen = detector.disturb(episode) if isinstance(detector, Disturbs) else episode
        if seen is None:
            return Result(name, detector.name, {}, 0.0)
        began = self.clock()
        examination = detector.examine(seen.history)
        alarms = {one: tuple(examination.alarms(one)) for one in detector.thresholds}
        return Result(name, detector.name, alarms, self.clock() - began)


@dataclass(frozen=True, slots=True)
class _Past:
    """Histories that are lived when somebody learns from them: not everybody does."""

    episodes: Callable[[], list[Episode]]

    def __iter__(self) -> Iterator[JobHistory]:
        return (one.history for one in self.episodes())


_WORKER: list[Worker] = []  # one in each worker process: tasks of a pool share nothing else


def join(source: EpisodeSource, detectors: Sequence[FaultyMachineDetector]) -> None:
    """Make this process a worker; several beside each other compute with one thread each.

    Ctrl-C in a terminal reaches all processes of it: the one that started this one ends it. Were
    that one killed itself, this one ends as well.
    """
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.disable(logging.INFO)  # what libraries tell of themselves, across the progress bar
    warnings.simplefilter("ignore", FutureWarning)  # of libraries about each other
    torch = sys.modules.get("torch")  # there, when a detector has brought it along
    if torch is not None:
        torch.set_num_threads(1)
    _WORKER[:] = [Worker(source, detectors)]


def train(names: Sequence[str]) -> list[FaultyMachineDetector]:
    """Have this process's worker train detectors."""
    return _WORKER[0].train(names)


def examine(drawn: Drawn, names: Sequence[str]) -> Examined:
    """Have this process's worker examine an episode."""
    return _WORKER[0].examine(drawn, names)
