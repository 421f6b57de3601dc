"""Every setting with its default, unit, limits and meaning; `docs/settings.md` lists the same."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, get_type_hints

LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Limits:
    """What a setting means and which values it takes."""

    meaning: str
    minimum: float | None = None
    maximum: float | None = None


def _setting(
    default: object, meaning: str, minimum: float | None = None, maximum: float | None = None
) -> Any:
    return field(default=default, metadata={"limits": Limits(meaning, minimum, maximum)})


@dataclass(frozen=True, slots=True)
class JobSettings:
    """How many processes a job has and where its runs lie."""

    ranks: int = _setting(4, "Processes that train, each playing one node.", 1, 4096)
    spares: int = _setting(1, "Warm spares that wait for a rank to be lost.", 0, 1024)
    runs_folder: str = _setting("paramedic-runs", "Folder that receives one folder a run.")


@dataclass(frozen=True, slots=True)
class BusSettings:
    """The bus between the processes."""

    address: str = _setting(
        "embedded",
        "`embedded` (a Unix socket of the run), `kafka` (starts the development broker) "
        "or `kafka://HOST:PORT`.",
    )
    connect_timeout_seconds: float = _setting(
        5.0, "How long a broker may take to answer before a run is refused.", 0.1, 600
    )


@dataclass(frozen=True, slots=True)
class ApiSettings:
    """Where REST, metrics and the event stream listen."""

    host: str = _setting("127.0.0.1", "Address to bind; only loopback until keys can be set up.")
    port: int = _setting(8370, "TCP port; 0 takes any free one.", 0, 65535)


@dataclass(frozen=True, slots=True)
class DetectionSettings:
    """When a machine counts as failing."""

    window_seconds: int = _setting(60, "How much of the past a window holds.", 4, 3600)
    lateness_seconds: int = _setting(3, "How late a sample may arrive and still count.", 0, 4)
    heartbeat_timeout_seconds: float = _setting(
        10.0, "Silence of a rank after which it counts as hanging.", 1.5, 3600
    )


@dataclass(frozen=True, slots=True)
class RecoverySettings:
    """How a job is brought back."""

    elastic_retries: int = _setting(
        3, "Recoveries without a completed step before a person is asked.", 0, 100
    )
    ready_timeout_seconds: float = _setting(
        300.0, "A spare or newcomer that is not ready by then is ended.", 1, 86400
    )
    target_seconds: float = _setting(120.0, "A recovery that takes longer is overdue.", 1, 86400)
    replacements_per_hour: int = _setting(
        3, "Replacements that verdicts may cause in a job before a person is asked.", 0, 1000
    )
    minimum_confidence_ratio: float = _setting(
        0.9, "A verdict below this confidence touches nothing.", 0, 1
    )


@dataclass(frozen=True, slots=True)
class CheckpointSettings:
    """When rank 0 writes a full checkpoint."""

    interval_seconds: float = _setting(7200.0, "Time between two full checkpoints.", 1, 604800)


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings; sections are the tables of `paramedic.toml`."""

    job: JobSettings = field(default_factory=JobSettings)
    bus: BusSettings = field(default_factory=BusSettings)
    api: ApiSettings = field(default_factory=ApiSettings)
    detection: DetectionSettings = field(default_factory=DetectionSettings)
    recovery: RecoverySettings = field(default_factory=RecoverySettings)
    checkpoint: CheckpointSettings = field(default_factory=CheckpointSettings)


SECTIONS: dict[str, type[Any]] = {
    "job": JobSettings,
    "bus": BusSettings,
    "api": ApiSettings,
    "detection": DetectionSettings,
    "recovery": RecoverySettings,
    "checkpoint": CheckpointSettings,
}


@dataclass(frozen=True, slots=True)
class SettingDescription:
    """One setting as the documentation and the reader see it."""

    section: str
    name: str
    kind: type[Any]
    default: object
    limits: Limits

    @property
    def key(self) -> str:
        """The dotted name, such as `detection.window_seconds`."""
        return f"{self.section}.{self.name}"

    @property
    def variable(self) -> str:
        """The environment variable, such as `PARAMEDIC_DETECTION_WINDOW_SECONDS`."""
        return f"PARAMEDIC_{self.section}_{self.name}".upper()


def describe_settings() -> tuple[SettingDescription, ...]:
    """Every setting there is, in the order of the documentation."""
    return tuple(
        SettingDescription(section, one.name, kinds[one.name], one.default, one.metadata["limits"])
        for section, schema in SECTIONS.items()
        for kinds in (get_type_hints(schema),)
        for one in fields(schema)
    )
