"""Puts the benchmark together: what is drawn, who takes part, who works, and what is told."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from paramedic.api.wiring.bench_progress import open_bar
from paramedic.api.wiring.errors import InputError
from paramedic.api.wiring.telling import say, tell, tell_lines
from paramedic.ingest.drafts import reason_of, remedy_for, write_text
from paramedic.ingest.folder_lock import alone_in

if TYPE_CHECKING:
    from paramedic.diagnosis.benchmark.real_sets.rows import RealSetRow
    from paramedic.diagnosis.benchmark.report import Report
    from paramedic.diagnosis.benchmark.sizes import Size
    from paramedic.models.detection import FaultyMachineDetector

_DOES_NOT_HOLD = 1


@dataclass(frozen=True, slots=True)
class BenchRequest:
    """A benchmark as it was asked for."""

    size: str
    detectors: tuple[str, ...] | None
    """None: all."""
    seed: int
    out: Path
    workers: int
    reference_data: Path | None = None
    """Where real sets lie; None: they are left out."""


def bench_detection(request: BenchRequest, as_json: bool, stdout: TextIO, stderr: TextIO) -> int:
    """Run it or go on with it, and tell; 1 when it is too easy, or ours is not the best.

    Raises InputError when it cannot be run, FolderInUseError when another one is running there.
    """
    from paramedic.diagnosis.benchmark.errors import BenchmarkError
    from paramedic.diagnosis.benchmark.real_sets.errors import RealSetError

    try:
        with alone_in(request.out, "a benchmark"):
            report = _report(request, stderr)
            _keep(request.out, report)
    except (BenchmarkError, RealSetError) as error:
        raise InputError(str(error)) from error
    if as_json:
        tell(stdout, json.dumps(report.to_json()) + "\n")
    else:
        tell_lines(stderr, _table(report))
    say(stderr, *_broken(report), f"results are in {request.out}")
    return 0 if report.holds else _DOES_NOT_HOLD


def _report(request: BenchRequest, stderr: TextIO) -> Report:
    from paramedic.diagnosis.benchmark.ledger import ResultsLedger
    from paramedic.diagnosis.benchmark.provenance import makers_of
    from paramedic.diagnosis.benchmark.report import report_on
    from paramedic.diagnosis.benchmark.roster import detectors_named
    from paramedic.diagnosis.benchmark.running import LoneCrew, ProcessCrew, run
    from paramedic.diagnosis.benchmark.sizes import SIZES
    from paramedic.diagnosis.benchmark.synthetic_source import SyntheticSource

    size = SIZES[request.size]
    detectors = detectors_named(request.detectors, is_quick=not size.wants_proof)
    source = SyntheticSource(size, request.seed)
    makers = makers_of(detectors)
    ledger = ResultsLedger(request.out, source.drawn(), makers)
    again = sorted(set(ledger.outdated) & set(makers))
    if again:
        say(stderr, f"made again, for another version made what is kept: {', '.join(again)}")
    # First, for they take seconds: a folder that is none is not found out after two hours.
    real = _real(request.reference_data, stderr)
    alone = request.workers == 1
    crew = LoneCrew(source) if alone else ProcessCrew(source, request.workers)
    with closing(open_bar(stderr)) as bar:
        run(source, detectors, ledger, crew, bar)
    settings = {**_settings(request, size, detectors), "made_by": makers}
    return report_on(ledger, list(makers), settings, size.wants_proof, real)


def _real(folder: Path | None, stderr: TextIO) -> list[RealSetRow]:
    """Rows on sets of others. Raises RealSetError when the folder is none, or a set is broken."""
    if folder is None:
        return []
    from paramedic.diagnosis.benchmark.real_sets.evaluation import evaluate_real_sets
    from paramedic.diagnosis.benchmark.real_sets.location import reference_folder

    say(stderr, f"sets of others in {folder}")
    there = reference_folder(folder, {})
    return list(evaluate_real_sets(there, lambda words: say(stderr, words)))


def _settings(
    request: BenchRequest, size: Size, detectors: Sequence[FaultyMachineDetector]
) -> Mapping[str, object]:
    from importlib.metadata import version

    names = "" if request.detectors is None else f" --detectors {','.join(request.detectors)}"
    return {
        "command": f"paramedic bench detection --{size.name} --seed {request.seed}{names}",
        "version": version("paramedic"),
        "seed": request.seed,
        "size": size.to_json(),
        "thresholds_tried": {one.name: len(one.thresholds) for one in detectors},
    }


def _keep(folder: Path, report: Report) -> None:
    """Beside the results. Raises InputError when that cannot be done."""
    from paramedic.diagnosis.benchmark.ledger import REPORT_FILES

    table = "".join(f"{line}\n" for line in _table(report))
    texts = (json.dumps(report.to_json(), indent=1) + "\n", table)
    try:
        for name, text in zip(REPORT_FILES, texts, strict=True):
            write_text(folder / name, text)
    except OSError as error:
        raise InputError(
            f"{folder} cannot be written: {reason_of(error)}:"
            f" {remedy_for(error, 'allow it')}, and call the same again: results are kept"
        ) from error


def _table(report: Report) -> Iterable[str]:
    from paramedic.diagnosis.benchmark.table import lines_of

    return lines_of(report)


def _broken(report: Report) -> Iterator[str]:
    for line in report.guard:
        if not line.holds:
            yield f"the episodes are too easy: {line.words}"
    for line in report.promises:
        if not line.holds:
            yield f"what is promised does not hold: {line.words}"
    for bar in report.missed:
        yield f"a bar is missed: {bar.line()}"
    for row in report.real:
        if not row.holds:
            yield f"what is promised of a real set does not hold: {row.name}: {row.promise}"
