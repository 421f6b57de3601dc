"""Effects on GPUs: how fast they work, how warm they are, how wide their links."""

from __future__ import annotations

import numpy as np

from paramedic.ingest.synthetic.causes import Causes
from paramedic.ingest.synthetic.faults.place import Cards


def slower_work(causes: Causes, cards: Cards, strength: float, _age_seconds: int) -> None:
    """The GPU's own work takes longer, and no counter says why."""
    causes.work_slowdown[cards] *= 1.0 + 0.9 * strength


def launch_gaps(causes: Causes, cards: Cards, strength: float, _age_seconds: int) -> None:
    """Between kernels nothing runs: launches fail and are tried again."""
    causes.launch_gap_ratio[cards] += 0.45 * strength


def lower_clock(causes: Causes, cards: Cards, strength: float, _age_seconds: int) -> None:
    """The driver keeps the clock down."""
    cap = 1.0 - 0.65 * strength
    causes.clock_limit_ratio[cards] = np.minimum(causes.clock_limit_ratio[cards], cap)


def power_brake(causes: Causes, cards: Cards, strength: float, _age_seconds: int) -> None:
    """The board is given less power than it may have."""
    causes.power_limit_ratio[cards] *= 1.0 - 0.6 * strength


def poor_cooling(causes: Causes, cards: Cards, strength: float, _age_seconds: int) -> None:
    """Dust, a dry heat pipe: the same power makes the chip warmer."""
    causes.cooling_ratio[cards] *= 1.0 + 0.9 * strength


def hot_memory(causes: Causes, cards: Cards, strength: float, _age_seconds: int) -> None:
    """The memory's own contact to the cooler is poor."""
    causes.memory_heat_celsius[cards] += 28.0 * strength


def narrow_pcie(causes: Causes, cards: Cards, strength: float, _age_seconds: int) -> None:
    """The link trained to fewer lanes or a lower generation; at little strength to a little less
    than the network card can do."""
    causes.pcie_ratio[cards] *= 0.68 * (1.0 - 0.85 * strength)


def narrow_nvlink(causes: Causes, cards: Cards, strength: float, _age_seconds: int) -> None:
    """Lanes are down: tensor-parallel exchanges take longer."""
    causes.nvlink_ratio[cards] *= 1.0 - 0.8 * strength
    causes.work_slowdown[cards] *= 1.0 + 0.3 * strength
