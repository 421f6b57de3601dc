"""The job's roles, as a recording's `job.json` holds them."""

from __future__ import annotations

from paramedic.ingest.recordings.description import JobDescription, NodeRoles, RankRoles
from paramedic.ingest.synthetic.configuration import ClusterConfig
from paramedic.ingest.synthetic.layout import Layout


def describe(config: ClusterConfig, layout: Layout) -> JobDescription:
    """Nodes and ranks with their roles; a node has a role only where all its ranks share it."""
    return JobDescription(
        job=config.job,
        sampling_seconds=1.0,
        nodes=tuple(_node(layout, n, config) for n in range(config.shape.nodes)),
        ranks=tuple(
            _rank(layout, n, g, config)
            for n in range(config.shape.nodes)
            for g in range(config.shape.gpus)
        ),
    )


def _node(layout: Layout, node: int, config: ClusterConfig) -> NodeRoles:
    return NodeRoles(
        name=layout.nodes[node],
        gpus=config.shape.gpus,
        pipeline_stage=_shared(layout.stage[node].tolist()),
        data_rank=_shared(layout.data_rank[node].tolist()),
        expert_group=_expert(_shared(layout.expert_group[node].tolist()), config),
        switch=f"leaf-{layout.switch[node] + 1}",
        rack=f"r{layout.rack[node] + 1:02d}",
    )


def _rank(layout: Layout, node: int, gpu: int, config: ClusterConfig) -> RankRoles:
    return RankRoles(
        rank=int(layout.rank[node, gpu]),
        node=layout.nodes[node],
        gpu=gpu,
        pipeline_stage=int(layout.stage[node, gpu]),
        data_rank=int(layout.data_rank[node, gpu]),
        tensor_rank=int(layout.tensor_rank[node, gpu]),
        expert_group=_expert(int(layout.expert_group[node, gpu]), config),
    )


def _shared(roles: list[int]) -> int | None:
    return roles[0] if len(set(roles)) == 1 else None


def _expert(group: int | None, config: ClusterConfig) -> int | None:
    return group if config.shape.expert_groups > 1 else None
