"""Settings of the node agent."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from paramedic.ingest.agent.errors import AgentSetupError
from paramedic.ingest.contract import JobName

_LONGEST_SOCKET_PATH_BYTES = 107


@dataclass(frozen=True, slots=True)
class AgentConfig:
    """What the agent works for and how patient it is.

    Raises AgentSetupError when a value is out of its range.
    """

    job: JobName
    telemetry_socket: Path
    """Unix datagram socket on which trainers send; made by the agent, mode 0600."""
    settle_seconds: float = 0.15
    """How long after the full second the trainers' datagrams are still waited for, so that a
    second's node and rank rows leave together."""
    outbox_batches: int = 60
    """Batches kept while the bus is away; the oldest are dropped and counted."""
    pending_datagrams: int = 4096
    """Rank rows kept within one second; more are refused and counted."""
    wait_slice_seconds: float = 0.25
    """Longest wait between two looks at whether to stop."""

    def __post_init__(self) -> None:
        """Refuse what cannot work, naming the setting."""
        length = len(str(self.telemetry_socket).encode())
        if length > _LONGEST_SOCKET_PATH_BYTES:
            raise AgentSetupError(
                f"telemetry_socket {self.telemetry_socket} is {length} bytes long; the system"
                f" allows {_LONGEST_SOCKET_PATH_BYTES}: put it in a shorter folder"
            )
        if not 0 <= self.settle_seconds < 1:
            raise AgentSetupError(
                f"settle_seconds is {self.settle_seconds}, it must be at least 0 and below 1"
            )
        for name in ("outbox_batches", "pending_datagrams", "wait_slice_seconds"):
            if getattr(self, name) <= 0:
                raise AgentSetupError(f"{name} is {getattr(self, name)}, it must be above 0")
