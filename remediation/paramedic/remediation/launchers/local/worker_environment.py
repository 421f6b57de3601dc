"""The environment of a worker (docs/architecture.md, section "Environment of a worker")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from paramedic.ingest.contract import JobName, NodeName

_HOST = "127.0.0.1"
_RANK_VARIABLES = (
    "RANK",
    "WORLD_SIZE",
    "LOCAL_RANK",
    "LOCAL_WORLD_SIZE",
    "MASTER_ADDR",
    "MASTER_PORT",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerEnvironment:
    """What every worker of a job is told."""

    job: JobName
    ranks: int
    control_socket: Path
    telemetry_socket: Path | None
    checkpoint_folder: Path
    checkpoint_interval_seconds: float
    base: Mapping[str, str] = field(default_factory=dict)
    """What the workers inherit, usually the environment of the command line."""

    def of(self, node: NodeName, rank: int | None, master_port: int) -> dict[str, str]:
        """The whole environment of one worker; a spare (rank None) is told no rank."""
        inherited = {
            name: value for name, value in self.base.items() if name not in _RANK_VARIABLES
        }
        if self.ranks > 1:
            # As torchrun does: ranks of one machine would otherwise fight for its cores.
            inherited.setdefault("OMP_NUM_THREADS", "1")
        return {**inherited, **self._of_rank(rank, master_port), **self._of_job(node)}

    def _of_rank(self, rank: int | None, master_port: int) -> dict[str, str]:
        if rank is None:
            return {}
        return {
            "RANK": str(rank),
            "WORLD_SIZE": str(self.ranks),
            "LOCAL_RANK": str(rank),
            "LOCAL_WORLD_SIZE": str(self.ranks),
            "MASTER_ADDR": _HOST,
            "MASTER_PORT": str(master_port),
        }

    def _of_job(self, node: NodeName) -> dict[str, str]:
        variables = {
            "PARAMEDIC_JOB": self.job,
            "PARAMEDIC_NODE": node,
            "PARAMEDIC_CONTROL_SOCKET": str(self.control_socket),
            "PARAMEDIC_CHECKPOINT_FOLDER": str(self.checkpoint_folder),
            "PARAMEDIC_CHECKPOINT_INTERVAL_SECONDS": f"{self.checkpoint_interval_seconds:g}",
        }
        if self.telemetry_socket is not None:
            variables["PARAMEDIC_TELEMETRY_SOCKET"] = str(self.telemetry_socket)
        return variables
