"""A port that answers `/metrics` about the process that opened it."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, start_http_server

from paramedic.api.wiring.errors import PreflightError


def serve_registry(host: str, port: int, registry: CollectorRegistry) -> None:
    """Answer until the process ends. Raises PreflightError when the port cannot be had."""
    try:
        start_http_server(port, addr=host, registry=registry)
    except OSError as error:
        raise PreflightError(
            f"--metrics-port {port} of {host} cannot be used ({error.strerror}): choose another"
        ) from error
