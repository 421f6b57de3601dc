"""What must hold between settings."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from paramedic.api.settings.errors import SettingConflictError, SettingValueError
from paramedic.api.settings.schema import LOOPBACK_HOSTS, Settings

HEARTBEAT_INTERVAL_SECONDS = 1.0
"""The trainer library's beat (formats, section 1)."""


def refuse_conflicts(settings: Settings, origins: Mapping[str, str]) -> None:
    """Raise SettingConflictError or SettingValueError for the first thing that cannot work."""
    _refuse_strange_bus(settings.bus.address, origins.get("bus.address", "default"))
    _refuse_open_host(settings.api.host, origins.get("api.host", "default"))
    _refuse_impatience(settings, origins)


def _refuse_strange_bus(address: str, origin: str) -> None:
    if address in ("embedded", "kafka") or address.startswith("unix:/"):
        return
    parts = urlsplit(address)
    servers = [server.rpartition(":") for server in parts.netloc.split(",")]
    if parts.scheme != "kafka" or not all(host and port.isdecimal() for host, _, port in servers):
        raise SettingValueError(
            f"{origin}: bus.address = {address!r}: needs embedded, kafka or kafka://HOST:PORT"
        )


def _refuse_open_host(host: str, origin: str) -> None:
    if host not in LOOPBACK_HOSTS:
        raise SettingValueError(
            f"{origin}: api.host = {host!r}: only loopback addresses are allowed until "
            "API keys can be configured; use 127.0.0.1 and a tunnel"
        )


def _refuse_impatience(settings: Settings, origins: Mapping[str, str]) -> None:
    timeout = settings.detection.heartbeat_timeout_seconds
    lateness = settings.detection.lateness_seconds
    least = HEARTBEAT_INTERVAL_SECONDS + lateness
    if timeout <= least:
        origin = origins.get(
            "detection.heartbeat_timeout_seconds",
            origins.get("detection.lateness_seconds", "default"),
        )
        raise SettingConflictError(
            f"{origin}: detection.heartbeat_timeout_seconds = {timeout:g} must be more than the "
            f"beat's interval of {HEARTBEAT_INTERVAL_SECONDS:g} s plus "
            f"detection.lateness_seconds = {lateness:g}: raise it above {least:g} or lower the "
            "lateness"
        )
