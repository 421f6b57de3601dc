"""What must hold between settings."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from paramedic.api.settings.errors import SettingConflictError, SettingValueError
from paramedic.api.settings.schema import LOOPBACK_HOSTS, Settings

HEARTBEAT_INTERVAL_SECONDS = 1.0
"""The trainer library's beat (formats, section 1)."""


_CHOICES = {
    "kafka.compression": ("none", "gzip", "snappy", "lz4", "zstd"),
    "kafka.security_protocol": ("plaintext", "ssl", "sasl_plaintext", "sasl_ssl"),
    "kafka.sasl_mechanism": ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"),
    "kafka.tls_check_hostname": ("yes", "no"),
    "detection.use_history_prior": ("yes", "no"),
    "models.scoring": ("registry", "shipped", "off"),
}
"""The texts that some settings take."""


def refuse_conflicts(settings: Settings, origins: Mapping[str, str]) -> None:
    """Raise SettingConflictError or SettingValueError for the first thing that cannot work."""
    _refuse_strange_bus(settings.bus.address, origins.get("bus.address", "default"))
    _refuse_open_host(settings.api.host, origins.get("api.host", "default"))
    _refuse_impatience(settings, origins)
    _refuse_strange_choices(settings, origins)
    _refuse_short_memory(settings, origins)


def _refuse_strange_bus(address: str, origin: str) -> None:
    if address in ("embedded", "kafka") or address.startswith("unix:/"):
        return
    parts = urlsplit(address)
    servers = [server.rpartition(":") for server in parts.netloc.split(",")]
    if parts.scheme != "kafka" or not all(host and _is_port(port) for host, _, port in servers):
        raise SettingValueError(
            f"{origin}: bus.address = {address!r}: needs embedded, kafka or kafka://HOST:PORT"
        )


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 6 and 0 < int(text) <= 65535


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


def _refuse_strange_choices(settings: Settings, origins: Mapping[str, str]) -> None:
    for key, choices in _CHOICES.items():
        section, name = key.split(".")
        value = getattr(getattr(settings, section), name)
        if value not in choices:
            raise SettingValueError(
                f"{origins.get(key, 'default')}: {key} = {value!r}: "
                f"needs one of {', '.join(choices)}"
            )


def _refuse_short_memory(settings: Settings, origins: Mapping[str, str]) -> None:
    """Windows are rebuilt from what is read again, which has to be there."""
    kafka, detection = settings.kafka, settings.detection
    needed = detection.window_seconds + detection.lateness_seconds + kafka.rewind_seconds
    if settings.bus.address.startswith("kafka") and needed > kafka.telemetry_retention_seconds:
        key = "kafka.telemetry_retention_seconds"
        origin = origins.get(key, origins.get("kafka.rewind_seconds", "default"))
        raise SettingConflictError(
            f"{origin}: {key} = {kafka.telemetry_retention_seconds:g} must be at least"
            f" {needed:g}, the sum of detection.window_seconds, detection.lateness_seconds and"
            " kafka.rewind_seconds: whoever takes a share over reads so much again"
        )
