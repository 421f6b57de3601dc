"""Metric ids and their values as people read them: names without suffixes, units with prefixes."""

from __future__ import annotations

import math
from dataclasses import dataclass

_SUFFIXES = (
    ("_bytes_per_second", "B/s"),
    ("_per_second", "/s"),
    ("_ratio", "%"),
    ("_watts", "W"),
    ("_celsius", "°C"),
    ("_hertz", "Hz"),
    ("_bytes", "B"),
    ("_seconds", "s"),
    ("_total", ""),
)
"""The longer ones first."""
_PREFIXED = ("B/s", "B", "Hz")
_LARGE = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_SMALL = ((1.0, ""), (1e-3, "m"), (1e-6, "µ"))
_PERCENT = 100.0


@dataclass(frozen=True, slots=True)
class Measure:
    """How one metric is shown: its name, its unit, and how many of these one SI unit is."""

    name: str
    unit: str
    factor: float

    def text(self, value: float | None) -> str:
        """A value with its unit.

        >>> measure_of("gpu_pcie_tx_bytes_per_second", 2.1e9).text(2.1e9)
        '2.1 GB/s'
        """
        if value is None or not math.isfinite(value):
            return "nothing observed"
        shown = value * self.factor
        digits = f"{shown:.0f}" if abs(shown) >= _PERCENT else f"{shown:.3g}"
        return f"{digits} {self.unit}".rstrip()


def measure_of(metric: str, largest: float = 1.0) -> Measure:
    """How a metric is shown whose values are of this size.

    >>> measure_of("gpu_tensor_active_ratio")
    Measure(name='GPU tensor active', unit='%', factor=100.0)
    >>> measure_of("disk_read_latency_seconds", 0.02).unit
    'ms'
    """
    stem, unit = next(
        ((metric.removesuffix(end), unit) for end, unit in _SUFFIXES if metric.endswith(end)),
        (metric, ""),
    )
    prefix, factor = _scale(unit, abs(largest))
    words = [_capitals(word) for word in stem.split("_")]
    return Measure(" ".join(words), prefix + unit, factor)


def _scale(unit: str, size: float) -> tuple[str, float]:
    if unit == "%":
        return "", _PERCENT
    steps = _LARGE if unit in _PREFIXED else _SMALL if unit == "s" else ()
    fitting = ((prefix, 1 / step) for step, prefix in steps if size >= step)
    return next(fitting, ("", 1.0))


_ABBREVIATIONS = {
    "gpu", "cpu", "sm", "dram", "ecc", "nvlink", "pcie", "tcp", "rdma", "xid", "sxid", "pfc", "ecn",
    "cnp", "ib",
}  # fmt: skip
_SPELLED = {
    "nvlink": "NVLink", "pcie": "PCIe", "xid": "Xid", "sxid": "SXid", "ib": "InfiniBand",
    "tx": "sent", "rx": "received",
}  # fmt: skip


def _capitals(word: str) -> str:
    return _SPELLED.get(word, word.upper() if word in _ABBREVIATIONS else word)
