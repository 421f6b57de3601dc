"""Puts doctor together: a look at sources, at a page, or at a place for checkpoints."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from paramedic.api.wiring.errors import InputError
from paramedic.api.wiring.stopping import stop_on_signals
from paramedic.api.wiring.telling import say, tell, tell_lines
from paramedic.ingest.agent.clock import SystemClock

if TYPE_CHECKING:
    from paramedic.api.settings.schema import Settings
    from paramedic.api.wiring.decode import DecodeRequest
    from paramedic.api.wiring.source_request import SourceRequest
    from paramedic.ingest.doctor.checks import Report
    from paramedic.ingest.doctor.examination import Examination
    from paramedic.ingest.doctor.storage.intervals import Plan
    from paramedic.ingest.doctor.storage.measuring import StorageLimits, StorageSpeed

_PAST_SECONDS = 120.0
_DOES_NOT_HOLD = 1
_GIGABYTE = 1e9
_HEADINGS = ("state", "saved to", "save", "load", "interval", "lost")
_MINUTE, _HOUR = 60.0, 3600.0
_LONG = 100.0


@dataclass(frozen=True, slots=True)
class StorageRequest:
    """A place to be measured, and what is to be saved there."""

    place: Path
    limits: StorageLimits
    states: Sequence[float]
    """Gigabytes."""
    nodes: int
    failures: float
    """A thousand node-days."""


def look_at_sources(
    request: SourceRequest, settings: Settings, seconds: float, as_json: bool,
    stdout: TextIO, stderr: TextIO, registry: Path | None = None,
) -> int:  # fmt: skip
    """Look at what comes for so long, and say what it lacks; 1 when the promise would not hold.

    `registry` is where the pattern model is; None leaves it out. Raises PreflightError,
    CollectError or ModelError when something cannot work.
    """
    from paramedic.api.wiring.sources import check_prometheus, open_sources
    from paramedic.ingest.doctor.clocks import HOST_TIME
    from paramedic.ingest.doctor.exporters import BUILD_INFO
    from paramedic.ingest.doctor.looking import behind_seconds, look
    from paramedic.ingest.doctor.report import report_of

    past_seconds = min(settings.collect.past_seconds, _PAST_SECONDS)
    short = replace(settings, collect=replace(settings.collect, past_seconds=past_seconds))
    more_names = (HOST_TIME, BUILD_INFO)
    sources = open_sources(request, short, lambda _record, _reason: None, more_names)
    check_prometheus(request, settings)
    seen = _examination(settings)
    say(stderr, f"looking for {seconds:g} s at {', '.join(source.name for source in sources)}")
    with stop_on_signals() as stop:
        looked = look(sources, seen, SystemClock(), stop, seconds)
    behind = behind_seconds(seen, time.time())
    report = _with_model(report_of(seen, looked, behind), seen, registry)
    return _told(report, as_json, stdout, stderr)


def look_at_page(
    request: DecodeRequest, settings: Settings, as_json: bool, stdout: TextIO, stderr: TextIO,
    registry: Path | None = None,
) -> int:  # fmt: skip
    """The same of a page or a saved answer. Raises InputError for anything else."""
    from paramedic.api.wiring.decode import pages_of, read_text
    from paramedic.ingest.doctor.report import report_of
    from paramedic.ingest.exposition.contents import Contents, contents_of

    text = read_text(request)
    contents = contents_of(text)
    if contents is Contents.LOG:
        raise InputError(f"{request.source} is a log; doctor reads metrics (decode reads logs)")
    seen = _examination(settings)
    for page in pages_of(text, contents, request):
        seen.take(page)
    report = _with_model(report_of(seen, None), seen, registry)
    return _told(report, as_json, stdout, stderr)


def look_at_storage(request: StorageRequest, as_json: bool, stdout: TextIO, stderr: TextIO) -> int:
    """Measure a place, and say which save times and intervals follow. Raises StorageError."""
    from paramedic.ingest.doctor.storage.intervals import mean_time_between_failures, plans
    from paramedic.ingest.doctor.storage.measuring import Ways, measure

    speed = measure(request.place, request.limits, Ways(time.monotonic))
    found = list(plans(speed, request.states, request.nodes, request.failures))
    mean_seconds = mean_time_between_failures(request.nodes, request.failures)
    if as_json:
        document = {
            "storage": {"path": str(request.place), **asdict(speed)},
            "nodes": request.nodes,
            "failures_per_1000_node_days": request.failures,
            "mean_seconds_between_failures": round(mean_seconds, 1),
            "checkpoints": [asdict(plan) for plan in found],
        }
        tell(stdout, json.dumps(document) + "\n")
    else:
        tell(stderr, "".join(f"{line}\n" for line in _storage_lines(
            request, speed, found, mean_seconds)))  # fmt: skip
    return 0


def _examination(settings: Settings) -> Examination:
    from paramedic.api.wiring.translation import collect_config
    from paramedic.ingest.catalogue.catalogue import shipped_catalogue
    from paramedic.ingest.cleaning.cleaner import TelemetryCleaner
    from paramedic.ingest.doctor.examination import Examination

    config = collect_config(settings)
    return Examination(TelemetryCleaner(), shipped_catalogue(), config.labels, config.tenancy)


def _with_model(report: Report, seen: Examination, registry: Path | None) -> Report:
    """With what the pattern model misses in it."""
    if registry is None or not seen.pages:
        return report
    from paramedic.api.wiring.doctor_models import model_checks

    return replace(report, checks=(*report.checks, *model_checks(registry, seen)))


def _told(report: Report, as_json: bool, stdout: TextIO, stderr: TextIO) -> int:
    from paramedic.ingest.doctor.telling import lines_of

    if as_json:
        tell(stdout, json.dumps(report.to_dict()) + "\n")
    else:
        tell_lines(stderr, lines_of(report))
    return 0 if report.holds else _DOES_NOT_HOLD


def _storage_lines(
    request: StorageRequest, speed: StorageSpeed, found: Sequence[Plan], mean_seconds: float
) -> Iterator[str]:
    cache = "past the page cache" if speed.is_direct else "through the page cache, fsync at the end"
    yield (
        f"{request.place}: writes {speed.write_bytes_per_second / _GIGABYTE:.2f} GB/s, reads "
        f"{speed.read_bytes_per_second / _GIGABYTE:.2f} GB/s "
        f"({speed.measured_bytes / _GIGABYTE:.2f} GB, {cache}); "
        f"{speed.small_files_per_second:,.0f} small files a second (made, fsync, renamed)"
    )
    yield (
        f"{request.nodes} node{'' if request.nodes == 1 else 's'}, {request.failures:g} failures "
        f"a thousand node-days: one failure every {_time(mean_seconds)}"
    )
    yield ""
    rows = [_HEADINGS, *(tuple(_cells(plan).values()) for plan in found)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()


def _cells(plan: Plan) -> Mapping[str, str]:
    return {
        "state": f"{plan.state_gigabytes:g} GB",
        "saved to": plan.layout,
        "save": _time(plan.save_seconds),
        "load": _time(plan.load_seconds),
        "interval": _time(plan.interval_seconds),
        "lost": f"{100 * plan.lost_ratio:.2g} %",
    }


def _time(seconds: float) -> str:
    """A duration as people say it.

    >>> _time(0.04), _time(42), _time(1800), _time(50_000)
    ('0.04 s', '42 s', '30 min', '14 h')
    """
    for unit, name in ((1.0, "s"), (_MINUTE, "min"), (_HOUR, "h")):
        if seconds < _LONG * unit:
            return f"{seconds / unit:.2g} {name}"
    return f"{seconds / (24 * _HOUR):,.0f} days"
