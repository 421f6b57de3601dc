"""Which GPU a series speaks of, and the index that stays with its UUID."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from paramedic.ingest.contract import NodeName

_UUID_LABELS = ("UUID", "gpu_uuid", "uuid")
_INDEX_LABELS = ("gpu", "gpu_id", "gpu_index")
_GPU_LABELS = frozenset(("gpu", "gpu_id", "gpu_uuid", "gpu_index", "UUID"))
_GPU_EXPORTERS = ("nvidia_smi_", "dcgm_", "DCGM_")
_DEVICE = re.compile(r"(?:nvidia|card)(\d+)")
_PLACEHOLDER = re.compile(r"[0-]+")
_HIGHEST_INDEX = 4096


@dataclass(frozen=True, slots=True)
class GpuLabels:
    """What a series says of its GPU."""

    uuid: str | None
    """As the exporter spells it."""
    claimed: int | None
    """The index that the exporter gives it now."""
    key: str | None = field(init=False)
    """The UUID in one spelling; None where only an index is known."""

    def __post_init__(self) -> None:
        """Work the key out once: it is asked for more often than anything else."""
        key = None if self.uuid is None else self.uuid.lower().removeprefix("gpu-")
        if key is not None and self.claimed is not None and _PLACEHOLDER.fullmatch(key):
            key = None
        object.__setattr__(self, "key", key)


def gpu_of(name: str, labels: Mapping[str, str]) -> GpuLabels | None:
    """The GPU that a series speaks of; None when it speaks of none."""
    if not _GPU_LABELS.isdisjoint(labels) or name.startswith(_GPU_EXPORTERS):
        uuid = next((labels[label] for label in _UUID_LABELS if label in labels), None)
        claimed = _claimed(labels)
        if uuid is not None or claimed is not None:
            return GpuLabels(uuid, claimed)
    return None


def _claimed(labels: Mapping[str, str]) -> int | None:
    for label in _INDEX_LABELS:
        text = labels.get(label, "")
        if text.isascii() and text.isdigit() and len(text) <= 4 and int(text) < _HIGHEST_INDEX:
            return int(text)
    device = _DEVICE.fullmatch(labels.get("device", ""))
    return int(device[1]) if device is not None and len(device[1]) <= 4 else None


class GpuIndices:
    """Binds an index to a UUID when it is first seen, for as long as the UUID lives.

    When a card falls off the bus, drivers number the others anew; their index here stays. Only a
    card that is new takes over the index of one that is gone.
    """

    def __init__(self) -> None:
        self._bound: dict[NodeName, dict[str, int]] = defaultdict(dict)

    def index_of(self, node: NodeName, gpu: GpuLabels, present: AbstractSet[str]) -> int | None:
        """The GPU's index; `present` are the keys of all GPUs on the same page of that node.

        None when it has neither a UUID nor an index.
        """
        key = gpu.key
        if key is None:
            return gpu.claimed
        bound = self._bound[node]
        if key not in bound:
            bound[key] = self._free_index(bound, gpu.claimed, present)
        return bound[key]

    @staticmethod
    def _free_index(bound: dict[str, int], claimed: int | None, present: AbstractSet[str]) -> int:
        holders = {index: key for key, index in bound.items()}
        if claimed is not None:
            holder = holders.get(claimed)
            if holder is None:
                return claimed
            if holder not in present:
                del bound[holder]
                return claimed
        return next(index for index in range(len(holders) + 1) if index not in holders)
