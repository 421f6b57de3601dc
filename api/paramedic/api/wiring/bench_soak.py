"""Runs the soak, goes on with one that was ended, and tells how far it has come in any case."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from paramedic.api.wiring.bench_progress import open_bar
from paramedic.api.wiring.errors import InputError
from paramedic.api.wiring.telling import say, tell, tell_lines
from paramedic.ingest.folder_lock import alone_in

if TYPE_CHECKING:
    from paramedic.diagnosis.benchmark.ledger import ResultsLedger
    from paramedic.diagnosis.benchmark.soak import SoakReport
    from paramedic.diagnosis.benchmark.synthetic_source import SyntheticSource

_DOES_NOT_HOLD = 1


@dataclass(frozen=True, slots=True)
class SoakRequest:
    """A soak as it was asked for."""

    job_hours: int
    seed: int
    out: Path
    workers: int


def bench_soak(request: SoakRequest, as_json: bool, stdout: TextIO, stderr: TextIO) -> int:
    """Run it or go on with it; 1 when somebody was accused too often.

    Raises InputError when it cannot be run, FolderInUseError when another one is running there.
    """
    from paramedic.diagnosis.benchmark.errors import BenchmarkError

    try:
        with alone_in(request.out, "a soak"):
            report = _report(request, stderr)
    except BenchmarkError as error:
        raise InputError(str(error)) from error
    if as_json:
        tell(stdout, json.dumps(report.to_json()) + "\n")
    return 0 if report.holds else _DOES_NOT_HOLD


def _report(request: SoakRequest, stderr: TextIO) -> SoakReport:
    from paramedic.diagnosis.benchmark.ledger import ResultsLedger
    from paramedic.diagnosis.benchmark.provenance import makers_of
    from paramedic.diagnosis.benchmark.soak import soak_report, soak_source
    from paramedic.diagnosis.benchmark.verdicts.detector import VerdictDetector

    source = soak_source(request.job_hours, request.seed)
    ledger = ResultsLedger(request.out, source.drawn(), makers_of([VerdictDetector()]))
    if ledger.outdated:
        say(stderr, "made again, for another version made what is kept")
    try:
        _soak(source, ledger, request.workers, stderr)
    finally:  # what an hour of it has shown is worth telling, too
        report = soak_report(ledger, request.job_hours)
        tell_lines(stderr, report.lines())
    return report


def _soak(source: SyntheticSource, ledger: ResultsLedger, workers: int, stderr: TextIO) -> None:
    from paramedic.diagnosis.benchmark.running import LoneCrew, ProcessCrew, run
    from paramedic.diagnosis.benchmark.verdicts.detector import VerdictDetector

    crew = LoneCrew(source) if workers == 1 else ProcessCrew(source, workers)
    with closing(open_bar(stderr)) as bar:
        run(source, [VerdictDetector()], ledger, crew, bar)
