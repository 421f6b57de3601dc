"""Puts the remediation process together, with REST beside it where asked for."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING

from paramedic.api.wiring.kafka import bus_at
from paramedic.api.wiring.liveness import BeatingBus, BeatingStop, Pulse
from paramedic.api.wiring.run_folder import SIGNING, database_url, sign_file
from paramedic.api.wiring.sign_file import SignReader
from paramedic.api.wiring.stopping import stop_on_signals
from paramedic.api.wiring.telling import log_to
from paramedic.api.wiring.translation import remediate_config

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from paramedic.api.rest.state import Signs
    from paramedic.api.settings.schema import Settings
    from paramedic.remediation.launchers.port import Launcher
    from paramedic.remediation.store.store import Store


@dataclass(frozen=True, slots=True)
class RemediateRequest:
    """What the remediation process works with."""

    bus_address: str
    run_folder: Path
    control_socket: Path | None
    """Of the local launcher; None where nobody may act: everything is shown and nothing done."""
    serve: bool
    listen_fd: int | None
    settings: Settings
    environment: Mapping[str, str]
    """Where secrets may be."""


def remediate(request: RemediateRequest) -> int:
    """Keep incidents and act until asked to end.

    Raises BusError, StoreError or ApiError when something that is needed cannot be used.
    """
    log_to()
    with stop_on_signals() as stop:
        from paramedic.remediation.service import run
        from paramedic.remediation.store.store import open_store

        store = open_store(database_url(request.run_folder))
        try:
            loop, bus = Pulse(time.monotonic), Pulse(time.monotonic)
            signs: dict[str, Signs] = {"remediate": loop, "bus": bus}
            for service in SIGNING:
                if (file := sign_file(request.run_folder, service)).exists():  # else: elsewhere
                    signs[service] = SignReader(file, time.time)
            with _server(request, store, signs):
                run(
                    remediate_config(request.settings, observe_only=request.control_socket is None),
                    BeatingBus(
                        bus_at(request.bus_address, request.settings, request.environment), bus
                    ),
                    _launcher(request.control_socket),
                    store,
                    lambda: datetime.now(UTC),
                    BeatingStop(stop, loop),
                )
        finally:
            store.close()
    return 0


def _launcher(control_socket: Path | None) -> Launcher:
    if control_socket is None:
        from paramedic.remediation.launchers.observing import ObservingLauncher

        return ObservingLauncher()
    from paramedic.remediation.launchers.local.client import LocalLauncher

    return LocalLauncher(control_socket)


def _server(
    request: RemediateRequest, store: Store, signs: Mapping[str, Signs]
) -> AbstractContextManager[object]:
    if not request.serve:
        return nullcontext()
    from paramedic.api.rest.application import create_app
    from paramedic.api.rest.serving import ServeConfig, serving
    from paramedic.api.wiring.figures import figures_of

    api = request.settings.api
    config = ServeConfig(host=api.host, port=api.port, listen_fd=request.listen_fd)
    figures = figures_of(request.run_folder, request.environment)
    app = create_app(store, version=version("paramedic"), signs=signs, book=store, figures=figures)
    return serving(config, app)
