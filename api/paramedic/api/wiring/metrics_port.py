"""A port that answers `/metrics` about the process that opened it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from prometheus_client import start_http_server

from paramedic.api.rest.families import registry_of
from paramedic.api.wiring.errors import PreflightError

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric


def serve_metrics(host: str, port: int, families: Callable[[], Iterable[Metric]]) -> None:
    """Answer until the process ends. Raises PreflightError when the port cannot be had."""
    try:
        start_http_server(port, addr=host, registry=registry_of(families))
    except OSError as error:
        raise PreflightError(
            f"--metrics-port {port} of {host} cannot be used ({error.strerror}): choose another"
        ) from error
