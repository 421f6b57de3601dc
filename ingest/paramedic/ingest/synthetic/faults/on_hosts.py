"""Effects on hosts: their processors, memory, disks, air, and what is seen of them."""

from __future__ import annotations

from paramedic.ingest.synthetic.causes import Causes
from paramedic.ingest.synthetic.faults.place import Cards

_LEAK_SECONDS = 240
_HOLE_EVERY_SECONDS = 53
"""Holes in the telemetry are scattered by steps of a prime."""


def stolen_processor(causes: Causes, cards: Cards, strength: float, _age_seconds: int) -> None:
    """Another program computes on the host."""
    causes.stolen_cpu_ratio[cards[0]] += 0.6 * strength**1.3


def leaking_memory(causes: Causes, cards: Cards, strength: float, age_seconds: int) -> None:
    """Memory is taken and not given back."""
    grown = min(1.0, (age_seconds + 1) / _LEAK_SECONDS)
    causes.leaked_memory_ratio[cards[0]] += 0.3 * strength**1.3 * grown


def foreign_writing(causes: Causes, cards: Cards, strength: float, _age_seconds: int) -> None:
    """Something writes to the disk."""
    causes.disk_bytes_per_second[cards[0]] += 8.0e8 * strength**1.2


def slow_reading(causes: Causes, cards: Cards, strength: float, _age_seconds: int) -> None:
    """Reads take longer, not yet so long that anybody waits."""
    causes.read_slowdown[cards[0]] *= 1.0 + 4.0 * strength**1.3


def slow_writing(causes: Causes, cards: Cards, strength: float, _age_seconds: int) -> None:
    """Writes take longer, checkpoints too."""
    causes.storage_slowdown[cards[0]] *= 1.0 + 2.5 * strength**1.3


def slow_loading(causes: Causes, cards: Cards, strength: float, _age_seconds: int) -> None:
    """The next batch is not there when it is needed."""
    causes.loading_seconds[cards[0]] += 1.2 * strength**2


def restless_kernel(causes: Causes, cards: Cards, strength: float, _age_seconds: int) -> None:
    """A driver's thread wakes, tries again and sleeps, very often."""
    causes.switches_per_second[cards[0]] += 1.6e4 * strength**1.3


def warm_air(causes: Causes, cards: Cards, strength: float, _age_seconds: int) -> None:
    """A fan has failed."""
    causes.ambient_celsius[cards[0]] += 22.0 * strength


def holes_in_telemetry(causes: Causes, cards: Cards, strength: float, age_seconds: int) -> None:
    """The exporters answer only now and then."""
    scattered = age_seconds * 31 % _HOLE_EVERY_SECONDS / _HOLE_EVERY_SECONDS
    if scattered < 0.7 * strength:
        causes.is_seen[cards[0]] = False
