"""What can be set about cleaning."""

from __future__ import annotations

from dataclasses import dataclass

NODE_LABELS = (
    "hostname",
    "Hostname",
    "exported_node",
    "node",
    "kubernetes_node",
    "nodename",
    "instance",
)


@dataclass(frozen=True, slots=True)
class CleaningSettings:
    """How pages are cleaned."""

    node_labels: tuple[str, ...] = NODE_LABELS
    """Labels that may name the node, in the order in which they are asked; of `instance` the port
    is left out. A value that names the exporter's own pod, or this very host, is passed over."""
    dialect_window_seconds: float = 60.0
    """A second name of a GPU's metric is left out until the first has been away this long."""
    counter_gap_seconds: float = 300.0
    """Counters that were not seen for longer than this begin anew."""
    blind_after_seconds: float = 10.0
    """A source that had GPUs and gives nothing for this long is blind."""

    def __post_init__(self) -> None:
        """Raises ValueError when a duration is not positive."""
        for name in ("dialect_window_seconds", "counter_gap_seconds", "blind_after_seconds"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} is {getattr(self, name)}: it has to be above 0")
