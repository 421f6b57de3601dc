"""Replays a recording: through the diagnosis of a live run, or onto a bus."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from paramedic.api.wiring.flight_recorder import dumps_as_moments, merged
from paramedic.api.wiring.telling import say, tell, tell_lines
from paramedic.api.wiring.translation import diagnose_config
from paramedic.api.wiring.wording import counted
from paramedic.diagnosis.explanation.judgeable import Judgeable
from paramedic.diagnosis.ordering import StreamTime
from paramedic.ingest.catalogue.catalogue import shipped_catalogue
from paramedic.ingest.contract import Entity, Event, format_time
from paramedic.ingest.recordings.introducing import introduced
from paramedic.ingest.recordings.moment import MICROSECONDS, Moment
from paramedic.ingest.recordings.opening import Opening, being_opened, open_now
from paramedic.ingest.recordings.recording import Recording
from paramedic.ingest.some_names import some_names

if TYPE_CHECKING:
    from paramedic.api.settings.schema import Settings
    from paramedic.diagnosis.contract import Detector, Verdict
    from paramedic.diagnosis.detector import JobDetector

_TELL_EVERY_SECONDS = 2.0
_COLUMNS = "{:<20}  {:<8}  {:<2}  {:<20}  {:<16}  {}"
_HEADINGS = ("detected at", "status", "", "fault", "where", "summary")


@dataclass(frozen=True, slots=True)
class ReplayRequest:
    """What is to be replayed, and how."""

    folder: Path
    speed: float = math.inf
    """Seconds of the recording in a second of the clock."""
    as_table: bool = False
    flight_recorder: Path | None = None
    """A folder with dumps of the job's ranks."""


@dataclass(frozen=True, slots=True)
class Time:
    """The clock of a replay: it decides when something is said and never what."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


SYSTEM_TIME = Time()


def replay(
    request: ReplayRequest,
    settings: Settings,
    stdout: TextIO,
    stderr: TextIO,
    clock: Time = SYSTEM_TIME,
    opening: Opening | None = None,
) -> int:
    """Print the verdicts of a live run over this telemetry. Raises RecordingError.

    `opening`: the recording is being opened already.
    """
    with nullcontext(opening) if opening else being_opened(request.folder) as recording_of:
        import_module("paramedic.diagnosis.service")  # what judges is loaded meanwhile
        recording = recording_of()
        say(stderr, *recording.remarks)
        detector = detector_of(recording, settings)
        show = _as_table(stderr) if request.as_table else lambda one: tell(stdout, _as_line(one))
        begun, verdicts = clock.clock(), Counter[str]()
        given = dumps_as_moments(request.flight_recorder, recording)
        seen = Judgeable(shipped_catalogue().metrics, _settle_seconds(settings))
        moments = looked_at(played(recording, request.speed, stderr, clock, given), seen)
        for verdict in judged(detector, moments):
            show(verdict)
            verdicts[verdict.id] += 1
    taken = clock.clock() - begun
    say(stderr, _summary(recording, verdicts, taken))
    if not verdicts and (why := seen.why_nothing(detector.rows_late)):
        say(stderr, f"nothing could be judged: {why}")
    return 0


def looked_at(moments: Iterable[Moment], seen: Judgeable) -> Iterator[Moment]:
    """The moments, of which somebody else takes note."""
    for moment in moments:
        if isinstance(moment.fact, Event):
            seen.hear(moment.fact)
        else:
            seen.see(moment.fact)
        yield moment


def _settle_seconds(settings: Settings) -> dict[Entity, int]:
    """How long a job's ranks and machines are not judged at first."""
    detector = diagnose_config(settings).detector
    return {
        Entity.RANK: detector.straggler.settle_seconds,
        Entity.GPU: detector.departure.settle_seconds,
    }


def opened(folder: Path, stderr: TextIO) -> Recording:
    """The recording, after what is remarkable about it was told. Raises RecordingError."""
    recording = open_now(folder)
    say(stderr, *recording.remarks)
    return recording


def detector_of(recording: Recording, settings: Settings) -> JobDetector:
    """The detector of a live run, with slots as wide as the recording's samples are apart."""
    config = diagnose_config(settings).detector
    width = max(1, math.ceil(recording.job.sampling_seconds))
    windows = replace(config.windows, sampling_seconds=width)
    return replace(config, windows=windows).build(recording.job.job)


def judged(detector: Detector, moments: Iterable[Moment]) -> Iterator[Verdict]:
    """What the detector decides, moment after moment, in stream time."""
    stream = StreamTime()
    for moment in moments:
        fact = moment.fact
        if isinstance(fact, Event):
            yield from detector.record(fact)
        else:
            yield from detector.accept(fact, stream.see(fact))


def played(
    recording: Recording,
    speed: float,
    stderr: TextIO,
    clock: Time,
    given: Sequence[Moment] = (),
) -> Iterator[Moment]:
    """The moments of a recording, each when its time has come, and progress on the way.

    `given` is what is told beside it.
    """
    begun = told = clock.clock()
    origin: int | None = None
    for moment in merged(introduced(recording.moments(), recording.job), given):
        origin = moment.arrived if origin is None else origin
        come = (moment.arrived - origin) / MICROSECONDS
        early = begun + come / speed - clock.clock()
        if early > 0:
            clock.sleep(early)
        if clock.clock() - told >= _TELL_EVERY_SECONDS:
            told = clock.clock()
            say(stderr, f"{come:.0f} of {len(recording.seconds)} s replayed")
        yield moment


def _as_line(verdict: Verdict) -> str:
    return verdict.to_json().decode() + "\n"


def _as_table(stderr: TextIO) -> Callable[[Verdict], None]:
    tell_lines(stderr, [_COLUMNS.format(*_HEADINGS)])
    return lambda one: tell_lines(stderr, [_as_row(one)])


def _as_row(verdict: Verdict) -> str:
    where = verdict.node or some_names(verdict.members) or "the job"
    return _COLUMNS.format(
        format_time(verdict.detected_at),
        verdict.status.value,
        verdict.severity.value,
        verdict.fault.value,
        where if verdict.gpu is None else f"{where}/{verdict.gpu}",
        verdict.summary,
    )


def _summary(recording: Recording, verdicts: Counter[str], taken_seconds: float) -> str:
    """`verdicts`: how often each was told: when it fired, and with each change."""
    seconds, lines = len(recording.seconds), verdicts.total()
    told = counted(len(verdicts), "verdict")
    told += f" ({lines} lines)" if lines > len(verdicts) else ""
    repeats = recording.repeated_rows
    repeated = f", {counted(repeats, 'row')} repeated others (the last holds)" if repeats else ""
    return (
        f"{told} in {seconds} s of {recording.job.job}{repeated}; replayed in"
        f" {taken_seconds:.1f} s, {seconds / max(taken_seconds, 1e-3):.0f} × as fast as it was"
    )
