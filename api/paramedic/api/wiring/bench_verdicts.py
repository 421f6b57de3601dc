"""Sets the product before trials, and tells what came of them and what went wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from paramedic.api.wiring.bench_progress import open_bar
from paramedic.api.wiring.errors import InputError
from paramedic.api.wiring.telling import tell, tell_lines

if TYPE_CHECKING:
    from paramedic.diagnosis.benchmark.verdicts.trials import Trial, Tried


@dataclass(frozen=True, slots=True)
class TrialRequest:
    """Which trials."""

    recordings: Path | None
    """A folder of recordings, each with its truth; None: the synthetic cluster."""
    part: str
    number: int
    healthy_hours: int
    seed: int
    workers: int


def bench_verdicts(request: TrialRequest, as_json: bool, stdout: TextIO, stderr: TextIO) -> int:
    """Try and tell; 0 whatever is found. Raises InputError when it cannot be run."""
    from paramedic.diagnosis.benchmark.errors import BenchmarkError
    from paramedic.diagnosis.benchmark.verdicts.telling import table_of
    from paramedic.ingest.recordings.errors import RecordingError

    try:
        tried = _tried(request, stderr)
    except (BenchmarkError, RecordingError) as error:
        raise InputError(str(error)) from error
    if as_json:
        tell(stdout, "".join(json.dumps(_fields(one)) + "\n" for one in tried))
    else:
        tell_lines(stderr, table_of(tried))
    return 0


def _tried(request: TrialRequest, stderr: TextIO) -> Sequence[Tried]:
    from paramedic.diagnosis.benchmark.verdicts.trials import attempts
    from paramedic.diagnosis.detector import DetectorConfig

    trials = _trials(request)
    tried = []
    with closing(open_bar(stderr)) as bar:
        bar.stage("trying", len(trials))
        for one in attempts(trials, DetectorConfig(), request.workers):
            tried.append(one)
            bar.advance(one.facts.name)
    return sorted(tried, key=lambda one: one.facts.name)


def _trials(request: TrialRequest) -> Sequence[Trial]:
    from paramedic.diagnosis.benchmark.episodes import Part
    from paramedic.diagnosis.benchmark.sizes import Amount, Size
    from paramedic.diagnosis.benchmark.synthetic_source import SyntheticSource
    from paramedic.diagnosis.benchmark.verdicts.trials import DrawnTrial, recorded_trials

    if request.recordings is not None:
        found = recorded_trials(request.recordings)
        if not found:
            raise InputError(f"{request.recordings} {_no_trials(request.recordings)}")
        return found
    part = Part(request.part)
    size = Size("trials", {part: Amount(request.number, request.healthy_hours)}, wants_proof=False)
    source = SyntheticSource(size, request.seed, has_twins=False)
    return [DrawnTrial(drawn, source) for drawn in source.draw(part)]


def _no_trials(folder: Path) -> str:
    if not folder.is_dir():
        return "is no folder: name one that holds recordings"
    return (
        "holds no recording with a truth.json among its files: docs/detection-benchmark.md says"
        " what stands in one (label files, as simulate writes them, are read by train)"
    )


def _fields(tried: Tried) -> Mapping[str, object]:
    outcome = tried.outcome
    return {
        "episode": tried.facts.to_json(),
        "hits": outcome.hits, "false_alarms": outcome.false_alarms, "misses": outcome.misses,
        "accusations": [
            {"second": alarm.second, **verdict.to_dict()}
            for alarm, verdict in zip(tried.alarms, tried.verdicts, strict=True)
        ],
        "job_verdicts": [
            {"second": said.second, **said.verdict.to_dict()} for said in tried.others
        ],
    }  # fmt: skip
