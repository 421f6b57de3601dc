"""Recordings to try things on before there are any of one's own: small jobs of the synthetic
cluster, some healthy, some with a fault, with labels beside them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paramedic.ingest.contract import JobName, NodeName
from paramedic.ingest.synthetic.cluster import SyntheticCluster
from paramedic.ingest.synthetic.configuration import ClusterConfig, Shape
from paramedic.ingest.synthetic.faults.plan import FaultPlan
from paramedic.ingest.synthetic.recording import record

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_RUN_SECONDS = 100_000
"""Between the beginnings of two recordings."""
_WARM_SECONDS = 120
"""Recordings begin when the job has been training for a while."""
_KINDS = ("tensor_loss", "pcie_downgrade", "thermal_throttle", "host_contention")


def record_healthy(root: Path, seconds: int, count: int, seed: int) -> list[Path]:
    """Record so many healthy jobs below a folder. Raises RecordingError."""
    return [_record(root, f"healthy-{at}", seed + at, seconds, ()) for at in range(count)]


def record_faulty(root: Path, seconds: int, count: int, seed: int) -> list[Path]:
    """Record so many jobs in each of which one machine breaks half-way. Raises RecordingError."""
    return [
        _record(root, f"faulty-{at}", seed + at, seconds, [_fault(at, seconds)])
        for at in range(count)
    ]


def _fault(at: int, seconds: int) -> FaultPlan:
    return FaultPlan(
        kind=_KINDS[at % len(_KINDS)],
        node=NodeName(f"node-{at % 6 + 1:04d}"),
        gpu=None if at % 2 else at % 4,
        onset=_WARM_SECONDS + seconds // 2,
        strength=0.6,
    )


def _record(root: Path, name: str, seed: int, seconds: int, faults: Sequence[FaultPlan]) -> Path:
    config = ClusterConfig(
        job=JobName(name), seed=seed, shape=Shape(nodes=8, gpus=4), faults=tuple(faults)
    )
    config = replace(config, first_second=config.first_second + seed * _RUN_SECONDS)
    folder = root / name
    root.mkdir(parents=True, exist_ok=True)
    labels = root / f"{name}.labels.json"
    record(SyntheticCluster(config), folder, labels, seconds, first=_WARM_SECONDS)
    return folder
