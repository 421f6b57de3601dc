"""The page of a node's dcgm-exporter, as its templates render it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from paramedic.ingest.synthetic.arrays import Floats
from paramedic.ingest.synthetic.configuration import ClusterConfig
from paramedic.ingest.synthetic.exposition.dialects import Dialect, Field, fields_of
from paramedic.ingest.synthetic.layout import Layout
from paramedic.ingest.synthetic.reading import Second

_MEMORY_CLOCK_HERTZ = 2.619e9


class Attribution(StrEnum):
    """Which labels tell the job."""

    HPC_JOB = "hpc-job"
    """`hpc_job`, as Slurm's prolog has it."""
    POD = "pod"
    """`container`, `namespace`, `pod`, as Kubernetes has them."""
    NONE = "none"


@dataclass(frozen=True, slots=True)
class _Node:
    template: str
    """All lines of the page, a value left open in each."""
    lines: Sequence[Sequence[tuple[str, str]]]
    """By family and GPU: what stands before the value, and how the value is printed."""
    heads: Sequence[str]


class GpuPages:
    """Renders the GPU pages of one second after another; each second's numbers are scaled once."""

    def __init__(
        self, config: ClusterConfig, layout: Layout, dialect: Dialect, attribution: Attribution
    ) -> None:
        self._fields = fields_of(dialect)
        self._nodes: dict[int, _Node] = {}
        self._labels = _Labels(config, layout, dialect, attribution)
        self._memory = config.hardware.memory_bytes
        self._gpus = config.shape.gpus
        self._values: tuple[int, Floats] | None = None

    def render(self, second: Second, node: int) -> str:
        """The page of one node."""
        values = self._scaled(second)[node]
        if np.isfinite(values).all() and second.is_present[node].all():
            lines = self._node(node)
            return lines.template % tuple(values.ravel().tolist())
        return self._patched(second, node, values)

    def _scaled(self, second: Second) -> Floats:
        """Printed values of all nodes; (nodes, families, gpus)."""
        if self._values is None or self._values[0] != second.offset:
            columns = self._columns(second)
            scaled = [_printed(field, columns[field.source]) for field in self._fields]
            self._values = second.offset, np.stack(scaled, axis=1)
        return self._values[1]

    def _columns(self, second: Second) -> Mapping[str, Floats]:
        derived = {
            "gpu_memory_free_bytes": self._memory - second.gpu["gpu_memory_used_bytes"],
            "gpu_memory_clock_hertz": np.full_like(
                second.gpu["gpu_sm_clock_hertz"], _MEMORY_CLOCK_HERTZ
            ),
        }
        return {**second.counters.gpu, **second.gpu, **derived}

    def _patched(self, second: Second, node: int, values: Floats) -> str:
        """Line by line: none of a card that is gone; what is impossible is printed as it is."""
        spikes = {(s.metric, s.gpu): s.printed for s in second.spikes if s.node == node}
        known, lines = self._node(node), []
        for at, field in enumerate(self._fields):
            lines.append(known.heads[at])
            for gpu in np.flatnonzero(second.is_present[node]).tolist():
                before, form = known.lines[at][gpu]
                value = float(values[at, gpu])
                value = spikes.get((field.source, gpu), value) if np.isnan(value) else value
                if np.isfinite(value):
                    lines.append(f"{before} {form % value}\n")
        return "".join(lines)

    def _node(self, node: int) -> _Node:
        if node not in self._nodes:
            self._nodes[node] = self._build(node)
        return self._nodes[node]

    def _build(self, node: int) -> _Node:
        labels = [self._labels.of(node, gpu) for gpu in range(self._gpus)]
        heads = [_head(field) for field in self._fields]
        lines = [
            [(f"{field.name}{{{label}}}", "%d" if field.is_whole else "%f") for label in labels]
            for field in self._fields
        ]
        whole = [
            head + "".join(f"{before.replace('%', '%%')} {form}\n" for before, form in family)
            for head, family in zip(heads, lines, strict=True)
        ]
        return _Node("".join(whole), lines, heads)


class _Labels:
    """What stands between the braces, in the exporter's order."""

    def __init__(
        self, config: ClusterConfig, layout: Layout, dialect: Dialect, attribution: Attribution
    ) -> None:
        self._config = config
        self._layout = layout
        self._dialect = dialect
        self._attribution = attribution

    def of(self, node: int, gpu: int) -> str:
        """The labels of one card."""
        dialect, hardware = self._dialect, self._config.hardware
        is_lower = dialect in (Dialect.CLASSIC_LOWER, Dialect.SI)
        driver = "SYSTEM_DRIVER_VERSION" if dialect is Dialect.SI else "DRIVER_VERSION"
        pairs = {
            "gpu": str(gpu),
            "uuid" if dialect is Dialect.OLD else "UUID": self._layout.uuids[node][gpu],
            "pci_bus_id": f"00000000:{0x11 * (gpu + 1):02X}:00.0",
            "device": f"nvidia{gpu}",
            "modelName": hardware.model,
            "hostname" if is_lower else "Hostname": self._layout.nodes[node],
            f"DCGM_FI_{driver}": hardware.driver,
            **self._job(node),
        }
        if dialect is Dialect.OLD:
            del pairs["pci_bus_id"], pairs[f"DCGM_FI_{driver}"]
        return ",".join(f'{name}="{value}"' for name, value in pairs.items())

    def _job(self, node: int) -> Mapping[str, str]:
        job = self._config.job
        if self._attribution is Attribution.HPC_JOB:
            return {"hpc_job": job}
        if self._attribution is Attribution.NONE:
            return {}
        names = ("container", "namespace", "pod")
        if self._dialect is Dialect.OLD:
            names = ("container_name", "pod_namespace", "pod_name")
        return dict(zip(names, ("pytorch", "training", f"{job}-worker-{node}"), strict=True))


def _printed(field: Field, column: Floats) -> Floats:
    scaled = column * field.factor
    return np.rint(scaled) if field.is_whole else scaled


def _head(field: Field) -> str:
    kind = "counter" if field.is_counter else "gauge"
    return f"# HELP {field.name} {field.help}\n# TYPE {field.name} {kind}\n"
