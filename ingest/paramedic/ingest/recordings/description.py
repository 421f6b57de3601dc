"""What `job.json` of a recording says: the job, its nodes and ranks, and their roles."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from paramedic.ingest.contract import JobName, NodeName

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class NodeRoles:
    """A node of the job; a role that is not known, or not shared by its ranks, is None."""

    name: NodeName
    gpus: int
    pipeline_stage: int | None = None
    data_rank: int | None = None
    expert_group: int | None = None
    switch: str | None = None
    rack: str | None = None


@dataclass(frozen=True, slots=True)
class RankRoles:
    """A rank of the job; where node and rank both name a role, the rank's holds."""

    rank: int
    node: NodeName
    gpu: int | None = None
    pipeline_stage: int | None = None
    data_rank: int | None = None
    tensor_rank: int | None = None
    expert_group: int | None = None


@dataclass(frozen=True, slots=True)
class JobDescription:
    """The job that was recorded."""

    job: JobName
    sampling_seconds: float
    nodes: tuple[NodeRoles, ...]
    ranks: tuple[RankRoles, ...] = ()

    def to_json(self) -> str:
        """The text of `job.json`; roles that are not known are left out."""
        fields: dict[str, object] = {
            "schema": SCHEMA,
            "job": self.job,
            "sampling_seconds": self.sampling_seconds,
            "nodes": [_present(node) for node in self.nodes],
        }
        if self.ranks:
            fields["ranks"] = [_present(rank) for rank in self.ranks]
        return json.dumps(fields)


def _present(roles: NodeRoles | RankRoles) -> dict[str, object]:
    return {name: value for name, value in asdict(roles).items() if value is not None}
