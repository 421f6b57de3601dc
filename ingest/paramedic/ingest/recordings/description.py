"""What `job.json` of a recording says: the job, its nodes and ranks, and their roles."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields

from paramedic.ingest.contract import JobName, NodeName

SCHEMA = 1
JOB_FILE = "job.json"
MOST_SAMPLING_SECONDS = 3600
"""The widest slot: with the four that a window has at least, hours of a job."""
MOST_GPUS = 1024
"""Of a node; what tells of more counts something else."""
MOST = 2**31 - 1
"""Ranks, GPUs and roles are no larger: what a batch can hold."""


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

    def roles_of_ranks(self) -> Iterator[tuple[RankRoles, Mapping[str, int | str]]]:
        """Each rank with its roles: its own, then those of its node that it does not name."""
        nodes = {node.name: node for node in self.nodes}
        for rank in self.ranks:
            node = nodes.get(rank.node)
            yield rank, {**({} if node is None else roles_of(node)), **roles_of(rank)}


def roles_of(one: NodeRoles | RankRoles) -> dict[str, int | str]:
    """The roles that are known, such as `pipeline_stage`.

    >>> roles_of(NodeRoles(NodeName("node-0001"), gpus=8, switch="leaf-7"))
    {'switch': 'leaf-7'}
    """
    return {name: value for name, value in _present(one).items() if name not in _NO_ROLES}


_NO_ROLES = ("name", "gpus", "rank", "node", "gpu")


def _present(one: NodeRoles | RankRoles) -> dict[str, int | str]:
    told = ((one_of.name, getattr(one, one_of.name)) for one_of in fields(one))
    return {name: value for name, value in told if value is not None}
