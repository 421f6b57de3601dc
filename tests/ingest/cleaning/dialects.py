"""Writes canonical values as the exporters of every dialect would print them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from paramedic.ingest.catalogue.catalogue import shipped_catalogue
from paramedic.ingest.catalogue.metric import Exported, Metric, Over
from paramedic.ingest.contract import Entity

GPU_LABELS: Mapping[str, str] = {
    "dcgm_1": 'gpu="{gpu}",uuid="GPU-{gpu}"',
    "dcgm": 'gpu="{gpu}",UUID="GPU-{gpu}",pci_bus_id="00000000:1{gpu}:00.0",device="nvidia{gpu}",'
    'modelName="NVIDIA H100 80GB HBM3",Hostname="{node}",container="",namespace="",pod=""',
    "dcgm_4_9": 'gpu="{gpu}",UUID="GPU-{gpu}",hostname="{node}",'
    'DCGM_FI_SYSTEM_DRIVER_VERSION="595.1"',
    "amd": 'gpu_id="{gpu}",gpu_uuid="GPU-{gpu}",gpu_partition_id="NA",hostname="{node}",pod="NA"',
    "nvidia_smi": 'uuid="{gpu}"',
}
# What a metric needs of its series beside the labels above.
_MORE_LABELS: Mapping[str, str] = {"gpu_clock": ',clock_type="GPU_CLOCK_TYPE_SYSTEM"'}


@dataclass(frozen=True, slots=True)
class Said:
    """What one dialect says of a metric."""

    exported: Exported

    def line(self, value: float, gpu: int, node: str = "n1") -> str:
        """The canonical value as a sample of this dialect."""
        labels = GPU_LABELS[self.exported.dialect].format(gpu=gpu, node=node)
        labels += _MORE_LABELS.get(self.exported.name, "")
        told = 1 - value if self.exported.metric.is_complement else value
        return f"{self.exported.name}{{{labels}}} {told / self.exported.factor!r}\n"


def gpu_dialects() -> dict[str, dict[str, Said]]:
    """Dialect to metric to the name that it prefers, of every metric of a GPU."""
    found: dict[str, dict[str, Said]] = {}
    for exported in shipped_catalogue().exported.values():
        metric = exported.metric
        if metric.entity is Entity.GPU and not metric.is_input and exported.over is not Over.MAX:
            found.setdefault(exported.dialect, {}).setdefault(metric.id, Said(exported))
    return found


def index_lines(dialect: str, gpus: int) -> str:
    """What tells the index of each GPU where the labels do not."""
    if dialect != "nvidia_smi":
        return ""
    return "".join(f'nvidia_smi_index{{uuid="{gpu}"}} {gpu}\n' for gpu in range(gpus))


def believable(metric: Metric) -> tuple[float, float]:
    """A range of the metric's values that every dialect can tell without doubt."""
    if metric.id.endswith("clock_hertz"):
        return (2e5, 5e9)
    if metric.unit == "ratio":
        return (0.011, 0.989)
    return (max(metric.low, 0.0), min(metric.high, 1e9))
