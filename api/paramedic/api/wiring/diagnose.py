"""Puts the diagnosis process together."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramedic.api.wiring.kafka import bus_at
from paramedic.api.wiring.pattern_watch import pattern_watch
from paramedic.api.wiring.sign_file import signed
from paramedic.api.wiring.stopping import stop_on_signals
from paramedic.api.wiring.telling import log_to
from paramedic.api.wiring.translation import diagnose_config

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from prometheus_client.metrics_core import Metric

    from paramedic.api.settings.schema import Settings
    from paramedic.diagnosis.pattern_watch.watch import PatternWatch
    from paramedic.diagnosis.routing.report import RoutingReport
    from paramedic.ingest.contract import Event

_NO_FOLDER = "none"


@dataclass(frozen=True, slots=True)
class DiagnoseRequest:
    """What the diagnosis process works with."""

    bus_address: str
    settings: Settings
    environment: Mapping[str, str]
    """Where secrets may be."""
    folder: Path
    """The current folder; a registry of models that is named by a relative path starts there."""
    sign_file: Path | None = None
    """Gets the loop's signs of life."""
    metrics_port: int | None = None


def diagnose(request: DiagnoseRequest) -> int:
    """Publish verdicts until asked to end.

    Raises BusError when the bus cannot be used, PreflightError when the port of the metrics cannot.
    """
    log_to()
    bus = bus_at(request.bus_address, request.settings, request.environment)
    with stop_on_signals() as stop, pattern_watch(request.settings, request.folder) as patterns:
        from paramedic.diagnosis.onlooker import no_onlooker
        from paramedic.diagnosis.service import run

        run(
            diagnose_config(request.settings),
            bus,
            time.monotonic,
            signed(stop, request.sign_file),
            _teller(request, patterns),
            onlookers=no_onlooker if patterns is None else patterns.follow,
            look=_looker(request),
        )
    return 0


def _looker(request: DiagnoseRequest) -> Callable[[], Iterable[Event]]:
    """Looks for dumps of flight recorders, where a folder is named for them."""
    from paramedic.diagnosis.flight_recorder.folder import DumpsFolder

    named = request.settings.detection.flight_recorder_folder
    return tuple if named == _NO_FOLDER else DumpsFolder(request.folder / named, time.time).look


def _teller(
    request: DiagnoseRequest, patterns: PatternWatch | None
) -> Callable[[RoutingReport], None]:
    """Takes reports, and answers `/metrics` with the newest one where that is asked for."""
    from paramedic.diagnosis.routing.report import RoutingReport

    newest = [RoutingReport()]
    if request.metrics_port is not None:
        from paramedic.api.wiring.diagnose_metrics import families_of
        from paramedic.api.wiring.metrics_port import serve_metrics
        from paramedic.api.wiring.pattern_metrics import pattern_families

        def families() -> Iterator[Metric]:
            yield from families_of(newest[0])
            if patterns is not None:
                yield from pattern_families(patterns.report)

        serve_metrics(request.settings.api.host, request.metrics_port, families)

    def tell(report: RoutingReport) -> None:
        newest[0] = report

    return tell
