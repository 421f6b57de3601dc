"""Serves what a run has stored, without anything that changes it."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, TextIO

from paramedic.api.wiring.errors import PreflightError
from paramedic.api.wiring.run_folder import DATABASE_FILE, database_url
from paramedic.api.wiring.stopping import stop_on_signals
from paramedic.api.wiring.telling import say

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from paramedic.api.settings.schema import Settings


def serve(
    run_folder: Path,
    listen_fd: int | None,
    settings: Settings,
    environment: Mapping[str, str],
    stderr: TextIO,
) -> int:
    """Answer requests until asked to end.

    Raises PreflightError when the folder holds no run, StoreError or ApiError when its database
    or the address cannot be used.
    """
    if not (run_folder / DATABASE_FILE).is_file():
        raise PreflightError(
            f"{run_folder / DATABASE_FILE}: no such file: name a run's folder with --run-folder"
        )
    with stop_on_signals() as stop:
        from paramedic.api.rest.application import create_app
        from paramedic.api.rest.serving import ServeConfig, serving
        from paramedic.api.wiring.figures import figures_of
        from paramedic.remediation.store.store import open_store

        store = open_store(database_url(run_folder))
        config = ServeConfig(host=settings.api.host, port=settings.api.port, listen_fd=listen_fd)
        try:
            app = create_app(
                store, version=version("paramedic"), figures=figures_of(run_folder, environment)
            )
            with serving(config, app) as server:
                say(stderr, f"API at {server.address}, documentation at /docs")
                server.wait_for(stop)
        finally:
            store.close()
    return 0
