"""Which GPUs are in use follows from whatever of their activity and memory is known."""

from __future__ import annotations

import math

import pytest

from paramedic.ingest.collect.configuration import TenancySettings
from paramedic.ingest.collect.usage import gpus_in_use
from paramedic.ingest.contract import Entity, NodeName, Table

SETTINGS = TenancySettings(used_ratio=0.05, used_memory_bytes=2e9)


def in_use(**columns: float) -> bool:
    table = Table(
        Entity.GPU, (NodeName("a"),), (0,), {name: (value,) for name, value in columns.items()}
    )
    (answer,) = gpus_in_use(table, SETTINGS)
    return answer


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"gpu_utilization_ratio": 0.9}, True),
        ({"gpu_utilization_ratio": 0.05}, False),
        ({"gpu_sm_active_ratio": 0.2}, True),
        ({"gpu_graphics_active_ratio": 0.2, "gpu_utilization_ratio": 0.0}, True),
        ({"gpu_utilization_ratio": 0.0, "gpu_memory_used_bytes": 70e9}, True),
        ({"gpu_utilization_ratio": 0.0, "gpu_memory_used_bytes": 5e8}, False),
        ({"gpu_utilization_ratio": math.nan, "gpu_memory_used_bytes": 5e8}, False),
        ({"gpu_utilization_ratio": math.nan, "gpu_memory_used_bytes": math.nan}, True),
        ({"gpu_power_watts": 60.0}, True),
    ],
)
def test_a_gpu_is_in_use_unless_it_is_known_not_to_be(
    columns: dict[str, float], expected: bool
) -> None:
    assert in_use(**columns) is expected
