"""Which row of which table every series of a page belongs to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paramedic.ingest.cleaning.gpus import GpuIndices, GpuLabels
from paramedic.ingest.cleaning.resolving import Resolved
from paramedic.ingest.contract import NodeName

Row = tuple[NodeName, int | None]
"""A node, or one of its GPUs."""

# This exporter names GPUs by their UUID alone; these two of its series tell the index.
_INDEX_BY_VALUE = "nvidia_smi_index"
_INDEX_BY_LABEL = "nvidia_smi_gpu_info"


@dataclass(frozen=True, slots=True)
class PageRows:
    """The rows of a page."""

    of_series: tuple[Row | None, ...]
    """One row a series; None for a series that is not kept or whose GPU cannot be told."""
    uuids: Mapping[Row, str]
    """The UUID of each GPU as its exporter spells it, where it has one."""


def rows_of(
    kept: Sequence[Resolved | None],
    everything: Sequence[Resolved],
    values: Sequence[float],
    indices: GpuIndices,
) -> PageRows:
    """Find the rows; `kept` has None for series that are not used."""
    claims = _claims_of_this_page(everything, values)
    present = _present_keys(kept)
    uuids: dict[Row, str] = {}
    rows: list[Row | None] = []
    for one in kept:
        row = None if one is None else _row(one, claims, present, indices)
        rows.append(row)
        if row is not None and one is not None and one.gpu is not None and one.gpu.uuid is not None:
            uuids.setdefault(row, one.gpu.uuid)
    return PageRows(tuple(rows), uuids)


def _row(
    one: Resolved,
    claims: Mapping[str, int],
    present: Mapping[NodeName, set[str]],
    indices: GpuIndices,
) -> Row | None:
    assert one.node is not None
    if one.gpu is None:
        return (one.node, None)
    gpu = one.gpu
    if gpu.claimed is None and gpu.uuid is not None and gpu.uuid in claims:
        gpu = GpuLabels(gpu.uuid, claims[gpu.uuid])
    index = indices.index_of(one.node, gpu, present[one.node])
    return None if index is None else (one.node, index)


def _claims_of_this_page(everything: Sequence[Resolved], values: Sequence[float]) -> dict[str, int]:
    claims: dict[str, int] = {}
    for one, value in zip(everything, values, strict=True):
        if one.gpu is None or one.gpu.uuid is None:
            continue
        if one.name == _INDEX_BY_VALUE and 0 <= value < 1024:
            claims[one.gpu.uuid] = int(value)
        elif one.name == _INDEX_BY_LABEL and one.labels.get("index", "").isdecimal():
            claims[one.gpu.uuid] = int(one.labels["index"])
    return claims


def _present_keys(kept: Sequence[Resolved | None]) -> Mapping[NodeName, set[str]]:
    present: dict[NodeName, set[str]] = defaultdict(set)
    for one in kept:
        if one is not None and one.node is not None and one.gpu is not None:
            key = one.gpu.key
            if key is not None:
                present[one.node].add(key)
    return present
