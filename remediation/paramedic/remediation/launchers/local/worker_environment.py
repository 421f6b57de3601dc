"""The environment of a worker (docs/architecture.md, section "Environment of a worker")."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paramedic.ingest.contract import NodeName
    from paramedic.remediation.launchers.local.job_config import LocalJobConfig

_HOST = "127.0.0.1"
_RANK_VARIABLES = (
    "RANK",
    "WORLD_SIZE",
    "LOCAL_RANK",
    "LOCAL_WORLD_SIZE",
    "MASTER_ADDR",
    "MASTER_PORT",
)


def worker_environment(
    config: LocalJobConfig, node: NodeName, rank: int | None, master_port: int
) -> dict[str, str]:
    """The whole environment of one worker; a spare (rank None) is told no rank."""
    base = config.base_environment
    inherited = {name: value for name, value in base.items() if name not in _RANK_VARIABLES}
    if config.rules.ranks > 1:
        # As torchrun does: ranks of one machine would otherwise fight for its cores.
        inherited.setdefault("OMP_NUM_THREADS", "1")
    of_rank = {} if rank is None else _of_rank(config.rules.ranks, rank, master_port)
    return {**inherited, **of_rank, **_of_job(config, node)}


def _of_rank(ranks: int, rank: int, master_port: int) -> dict[str, str]:
    values = (rank, ranks, rank, ranks, _HOST, master_port)
    return dict(zip(_RANK_VARIABLES, map(str, values), strict=True))


def _of_job(config: LocalJobConfig, node: NodeName) -> dict[str, str]:
    variables = {
        "PARAMEDIC_JOB": config.job,
        "PARAMEDIC_NODE": node,
        "PARAMEDIC_CONTROL_SOCKET": str(config.control_socket),
        "PARAMEDIC_CHECKPOINT_FOLDER": str(config.checkpoint_folder),
        "PARAMEDIC_CHECKPOINT_INTERVAL_SECONDS": f"{config.checkpoint_interval_seconds:g}",
    }
    if config.telemetry_socket is not None:
        variables["PARAMEDIC_TELEMETRY_SOCKET"] = str(config.telemetry_socket)
    return variables
