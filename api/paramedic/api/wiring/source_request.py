"""Where telemetry is to be read from, as it was asked for; nothing has been opened or read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

TOKEN_VARIABLE = "PARAMEDIC_SOURCE_TOKEN"
PASSWORD_VARIABLE = "PARAMEDIC_SOURCE_PASSWORD"


@dataclass(frozen=True, slots=True)
class AccessRequest:
    """How to get in; secrets come from files or the environment and are shown nowhere."""

    token_file: Path | None = None
    user: str | None = None
    password_file: Path | None = None
    ca_file: Path | None = None
    certificate_file: Path | None = None
    key_file: Path | None = None
    tenant: str | None = None
    verify: bool = True

    def flags(self) -> tuple[str, ...]:
        """The flags that ask for the same."""
        return (
            *_flag("--token-file", self.token_file),
            *_flag("--user", self.user),
            *_flag("--password-file", self.password_file),
            *_flag("--ca-file", self.ca_file),
            *_flag("--certificate-file", self.certificate_file),
            *_flag("--key-file", self.key_file),
            *_flag("--tenant", self.tenant),
            *(() if self.verify else ("--no-verify",)),
        )


@dataclass(frozen=True, slots=True)
class SourceRequest:
    """The sources of one collect."""

    prometheus: str | None = None
    matchers: str = ""
    exporters: Path | None = None
    kernel_logs: tuple[str, ...] = ()
    """Each `[NODE=]PATH`, `[NODE=]journal` or `/dev/kmsg`."""
    nvml: bool = False
    kafka: str | None = None
    """`HOST:PORT` of the cluster with other tools' topics."""
    topics: tuple[str, ...] = ()
    topic_format: str = "prometheus-kafka-adapter"
    access: AccessRequest = field(default_factory=AccessRequest)
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is to be read."""
        named = (self.prometheus, self.exporters, self.nvml, self.kernel_logs, self.topics)
        return not any(named)

    def flags(self) -> tuple[str, ...]:
        """The flags that ask for the same, for a process of ours."""
        return (
            *_flag("--prometheus", self.prometheus),
            *_flag("--matchers", self.matchers or None),
            *_flag("--exporters", self.exporters),
            *_each("--kernel-log", self.kernel_logs),
            *(("--nvml",) if self.nvml else ()),
            *_flag("--kafka", self.kafka if self.topics else None),
            *_flag("--kafka-format", self.topic_format if self.topics else None),
            *_each("--kafka-topic", self.topics),
            *self.access.flags(),
        )


def _flag(name: str, value: object) -> tuple[str, ...]:
    # In one word, so that a value that begins with a dash is not taken for a flag.
    return () if value is None else (f"{name}={value}",)


def _each(name: str, values: Sequence[str]) -> tuple[str, ...]:
    return tuple(word for value in values for word in _flag(name, value))
