"""What a local job is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from paramedic.ingest.contract import JobName, NodeName
from paramedic.remediation.launchers.local.commands import MembershipRules
from paramedic.remediation.launchers.port import LauncherSetupError


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalJobConfig:
    """A job of this machine."""

    job: JobName
    command: tuple[str, ...]
    rules: MembershipRules
    run_folder: Path
    """Gets `logs/NODE.log` and `checkpoints/`."""
    control_socket: Path
    """At most 107 bytes long, in a folder of mode 0700."""
    telemetry_socket: Path | None = None
    checkpoint_interval_seconds: float = 600.0
    base_environment: Mapping[str, str] = field(default_factory=dict)
    """What the workers inherit; the composition passes its own environment."""
    working_folder: Path | None = None
    service_drain_seconds: float = 1.0
    """How long services go on after the job in any case, so that the last verdicts are stored."""
    service_patience_seconds: float = 10.0
    """How long after the job they may go on until they are done."""

    def __post_init__(self) -> None:
        if not self.command or not self.command[0]:
            raise LauncherSetupError("command: it is empty: say what to run after `--`")

    @property
    def log_folder(self) -> Path:
        """Where the workers' logs lie."""
        return self.run_folder / "logs"

    @property
    def checkpoint_folder(self) -> Path:
        """Where rank 0 writes checkpoints."""
        return self.run_folder / "checkpoints"

    def log_path(self, node: NodeName) -> Path:
        """The log of one worker."""
        return self.log_folder / f"{node}.log"
