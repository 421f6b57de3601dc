"""Trials: episodes of the synthetic cluster, or recordings, that the product is set before."""

from __future__ import annotations

import math
import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from paramedic.diagnosis.benchmark.errors import TruthError
from paramedic.diagnosis.benchmark.orphans import end_with_parent
from paramedic.diagnosis.benchmark.outcome import judge
from paramedic.diagnosis.benchmark.verdicts.accusing import accusations
from paramedic.diagnosis.benchmark.verdicts.detector import slotted
from paramedic.diagnosis.benchmark.verdicts.feeding import listen, moments
from paramedic.diagnosis.benchmark.verdicts.truth import TRUTH_FILE, Truth, read_truth
from paramedic.diagnosis.contract import Scope, Status
from paramedic.ingest.recordings.description_reading import read_description
from paramedic.ingest.recordings.introducing import introduced
from paramedic.ingest.recordings.reading import open_recording
from paramedic.ingest.some_names import some_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from paramedic.diagnosis.benchmark.episodes import Drawn, EpisodeSource, Facts
    from paramedic.diagnosis.benchmark.outcome import Outcome
    from paramedic.diagnosis.benchmark.verdicts.feeding import Said
    from paramedic.diagnosis.contract import Verdict
    from paramedic.diagnosis.detector import DetectorConfig
    from paramedic.ingest.contract import JobName
    from paramedic.ingest.recordings.moment import Moment
    from paramedic.models.detection import Alarm


@dataclass(frozen=True, slots=True)
class Opened:
    """An episode that is ready to be told."""

    facts: Facts
    job: JobName
    slot_seconds: int
    moments: Iterator[Moment]


class Trial(Protocol):
    """An episode before it is opened; travels to the process that does it."""

    @property
    def name(self) -> str:
        """What the episode is called."""
        ...

    def open(self) -> Opened:
        """Live or read it."""
        ...


@dataclass(frozen=True, slots=True)
class RecordedTrial:
    """A folder with a recording, and its truth."""

    name: str
    folder: Path
    truth: Truth

    def open(self) -> Opened:
        """Raises TruthError for nodes that the recording does not know, or RecordingError."""
        recording = open_recording(self.folder)
        known = recording.nodes | {node.name for node in recording.job.nodes}
        for fault in self.truth.faults:
            if unknown := [node for node in fault.nodes if node not in known]:
                raise TruthError(
                    f"{self.folder / TRUTH_FILE}: nodes of {fault.kind} hold {unknown[0]!r}, of"
                    f" which the recording knows nothing: it has {some_names(sorted(known))}"
                )
        return Opened(
            facts=self.truth.facts(self.name, recording.seconds),
            job=recording.job.job,
            slot_seconds=math.ceil(recording.job.sampling_seconds),
            moments=introduced(recording.moments(), recording.job),
        )


@dataclass(frozen=True, slots=True)
class DrawnTrial:
    """An episode of a source."""

    drawn: Drawn
    source: EpisodeSource

    @property
    def name(self) -> str:
        """The name that it was drawn under."""
        return self.drawn.name

    def open(self) -> Opened:
        """Live it."""
        episode = self.source.live(self.drawn)
        history = episode.history
        return Opened(episode.facts, history.job, history.seconds.step, moments(history))


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of a trial."""

    facts: Facts
    alarms: tuple[Alarm, ...]
    verdicts: tuple[Verdict, ...]
    """The one that each alarm is of."""
    others: tuple[Said, ...]
    """Firing verdicts that accuse nobody."""
    compute_seconds: float

    @property
    def outcome(self) -> Outcome:
        """How it went."""
        return judge(self.facts, self.alarms, self.compute_seconds)

    @property
    def until_halt(self) -> Outcome:
        """How it went until the job ended of a fault: what was said of its end is left aside."""
        halts = [fault.halted_at for fault in self.facts.faults if fault.halted_at is not None]
        end = min(halts, default=math.inf)
        alarms = [alarm for alarm in self.alarms if alarm.second + 1 < end]
        return judge(self.facts, alarms, self.compute_seconds)


def attempt(
    trial: Trial, config: DetectorConfig, clock: Callable[[], float] = time.process_time
) -> Tried:
    """Tell the episode to a new detector."""
    opened = trial.open()
    detector = slotted(config, opened.slot_seconds).build(opened.job)
    began = clock()
    said = list(listen(detector, opened.moments))
    taken = clock() - began
    told = list(accusations(said))
    return Tried(
        facts=opened.facts,
        alarms=tuple(alarm for alarm, _ in told),
        verdicts=tuple(verdict for _, verdict in told),
        others=tuple(one for one in said if accuses_nobody(one)),
        compute_seconds=taken,
    )


def accuses_nobody(said: Said) -> bool:
    """Whether a job's verdict fires."""
    return said.verdict.scope is Scope.JOB and said.verdict.status is Status.FIRING


def recorded_trials(folder: Path) -> list[RecordedTrial]:
    """All recordings with a truth in a folder, or in folders of it, by their paths there.

    Every truth and every job.json is read, so that a mistake is told before the work begins. Raises
    TruthError or RecordingError for the first.
    """
    found = sorted(file.parent for file in folder.rglob(TRUTH_FILE))
    trials = [
        RecordedTrial(one.relative_to(folder).as_posix(), one, read_truth(one)) for one in found
    ]
    for trial in trials:
        read_description(trial.folder)
    return trials


def attempts(trials: Sequence[Trial], config: DetectorConfig, workers: int) -> Iterator[Tried]:
    """What came of each, in the order in which they are done."""
    if workers == 1:
        yield from (attempt(trial, config) for trial in trials)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, end_with_parent) as pool:
        tasks = [pool.submit(attempt, trial, config) for trial in trials]
        try:
            yield from (task.result() for task in as_completed(tasks))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
