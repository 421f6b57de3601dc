"""Which GPUs of a table are in use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paramedic.ingest.collect.configuration import TenancySettings
    from paramedic.ingest.contract import Table

_ACTIVITIES = (
    "gpu_utilization_ratio",
    "gpu_graphics_active_ratio",
    "gpu_sm_active_ratio",
    "gpu_tensor_active_ratio",
)
_MEMORY = "gpu_memory_used_bytes"


def gpus_in_use(table: Table, settings: TenancySettings) -> Sequence[bool]:
    """Whether each row's GPU is in use. One of which nothing is known may be, so it counts."""
    limits = [
        (table.columns[metric], settings.used_ratio)
        for metric in _ACTIVITIES
        if metric in table.columns
    ]
    if _MEMORY in table.columns:
        limits.append((table.columns[_MEMORY], settings.used_memory_bytes))
    if not limits:
        return (True,) * len(table.nodes)
    return [_is_in_use(row, limits) for row in range(len(table.nodes))]


def _is_in_use(row: int, limits: Sequence[tuple[Sequence[float], float]]) -> bool:
    is_known = False
    for column, limit in limits:
        value = column[row]
        if value > limit:
            return True
        is_known = is_known or value == value  # NaN is not itself
    return not is_known
