"""Effects on GPUs: how fast they work, how warm they are, how wide their links."""

from __future__ import annotations

import numpy as np

from paramedic.ingest.synthetic.causes import Causes
from paramedic.ingest.synthetic.faults.place import Cards

_LEAK_SECONDS = 180


def slower_work(causes: Causes, cards: Cards, strength: float, _age_seconds: int) -> None:
    """The GPU's own work takes longer, and no counter says why."""
    causes.work_slowdown[cards] *= 1.0 + 0.9 * strength**2


def launch_gaps(causes: Causes, cards: Cards, strength: float, _age_seconds: int) -> None:
    """Between kernels nothing runs: launches fail and are tried again."""
    causes.launch_gap_ratio[cards] += 0.45 * strength**1.5


def lower_clock(causes: Causes, cards: Cards, strength: float, _age_seconds: int) -> None:
    """The driver keeps the clock down."""
    cap = 1.0 - 0.65 * strength**1.5
    causes.clock_limit_ratio[cards] = np.minimum(causes.clock_limit_ratio[cards], cap)


def power_brake(causes: Causes, cards: Cards, strength: float, _age_seconds: int) -> None:
    """The board is given less power than it may have."""
    causes.power_limit_ratio[cards] *= 1.0 - 0.6 * strength


def poor_cooling(causes: Causes, cards: Cards, strength: float, _age_seconds: int) -> None:
    """Dust, a dry heat pipe: the same power makes the chip warmer."""
    causes.cooling_ratio[cards] *= 1.0 + 0.9 * strength


def hot_memory(causes: Causes, cards: Cards, strength: float, _age_seconds: int) -> None:
    """The memory's own contact to the cooler is poor."""
    causes.memory_heat_celsius[cards] += 28.0 * strength**1.3


def narrow_pcie(causes: Causes, cards: Cards, strength: float, _age_seconds: int) -> None:
    """The link trained to fewer lanes or a lower generation; at little strength to a little less
    than the network card can do."""
    causes.pcie_ratio[cards] *= 0.64 * (1.0 - 0.85 * strength)


def narrow_nvlink(causes: Causes, cards: Cards, strength: float, _age_seconds: int) -> None:
    """Lanes are down: tensor-parallel exchanges take longer."""
    causes.nvlink_ratio[cards] *= 1.0 - 0.8 * strength
    causes.work_slowdown[cards] *= 1.0 + 0.3 * strength**1.5


def fallback(causes: Causes, cards: Cards, strength: float, _age_seconds: int) -> None:
    """A part of the matrix work falls off the tensor cores."""
    causes.tensor_share[cards] *= 1.0 - 0.8 * strength**1.7


def leaking_card(causes: Causes, cards: Cards, strength: float, age_seconds: int) -> None:
    """Memory of the card is not given back after errors."""
    grown = min(1.0, (age_seconds + 1) / _LEAK_SECONDS)
    causes.leaked_bytes[cards] += 9.0e9 * strength**1.3 * grown


def scrubbing(causes: Causes, cards: Cards, strength: float, _age_seconds: int) -> None:
    """The card reads its memory to mend it."""
    causes.scrubbing_ratio[cards] += 0.3 * strength**1.3
