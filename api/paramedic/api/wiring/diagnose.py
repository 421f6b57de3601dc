"""Puts the diagnosis process together."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramedic.api.wiring.kafka import bus_at
from paramedic.api.wiring.sign_file import signed
from paramedic.api.wiring.stopping import stop_on_signals
from paramedic.api.wiring.telling import log_to
from paramedic.api.wiring.translation import diagnose_config

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from paramedic.api.settings.schema import Settings
    from paramedic.diagnosis.routing.report import RoutingReport


@dataclass(frozen=True, slots=True)
class DiagnoseRequest:
    """What the diagnosis process works with."""

    bus_address: str
    settings: Settings
    environment: Mapping[str, str]
    """Where secrets may be."""
    sign_file: Path | None = None
    """Gets the loop's signs of life."""
    metrics_port: int | None = None


def diagnose(request: DiagnoseRequest) -> int:
    """Publish verdicts until asked to end.

    Raises BusError when the bus cannot be used, PreflightError when the port of the metrics cannot.
    """
    log_to()
    bus = bus_at(request.bus_address, request.settings, request.environment)
    with stop_on_signals() as stop:
        from paramedic.diagnosis.service import run

        run(
            diagnose_config(request.settings),
            bus,
            time.monotonic,
            signed(stop, request.sign_file),
            _teller(request),
        )
    return 0


def _teller(request: DiagnoseRequest) -> Callable[[RoutingReport], None]:
    """Takes reports, and answers `/metrics` with the newest one where that is asked for."""
    from paramedic.diagnosis.routing.report import RoutingReport

    newest = [RoutingReport()]
    if request.metrics_port is not None:
        from paramedic.api.wiring.diagnose_metrics import families_of
        from paramedic.api.wiring.metrics_port import serve_metrics

        host = request.settings.api.host
        serve_metrics(host, request.metrics_port, lambda: families_of(newest[0]))

    def tell(report: RoutingReport) -> None:
        newest[0] = report

    return tell
