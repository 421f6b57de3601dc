"""Effects that hardware counts or the driver reports, and that slow nothing by themselves."""

from __future__ import annotations

from collections.abc import Callable

from paramedic.ingest.synthetic.causes import Causes
from paramedic.ingest.synthetic.faults.place import Cards

_REPEATED_EVERY_SECONDS = 90


def corrected_errors(causes: Causes, cards: Cards, strength: float, _age_seconds: int) -> None:
    """A weak memory row is corrected again and again."""
    causes.corrected_errors_per_second[cards] += 4.0 * strength**2


def uncorrected_errors(causes: Causes, cards: Cards, strength: float, _age_seconds: int) -> None:
    """Now and then two bits flip at once."""
    causes.uncorrected_errors_per_second[cards] += 0.08 * strength**2


def pcie_replays(causes: Causes, cards: Cards, strength: float, _age_seconds: int) -> None:
    """Packets are sent again."""
    causes.pcie_replays_per_second[cards] += 12.0 * strength**2


def nvlink_errors(causes: Causes, cards: Cards, strength: float, _age_seconds: int) -> None:
    """Checksums that do not fit."""
    causes.nvlink_errors_per_second[cards] += 40.0 * strength**2


def row_remapping(causes: Causes, cards: Cards, _strength: float, _age_seconds: int) -> None:
    """A row waits to be remapped at the next reset."""
    causes.row_remap_pending[cards] = 1.0


def remapping_failure(causes: Causes, cards: Cards, _strength: float, _age_seconds: int) -> None:
    """No spare row is left."""
    causes.row_remap_failed[cards] = 1.0


def wants_reset(causes: Causes, cards: Cards, _strength: float, _age_seconds: int) -> None:
    """The driver asks for a reset of the GPU."""
    causes.recovery_action[cards] = 1.0


def driver_error(code: int, is_repeated: bool = False) -> Callable[..., None]:
    """The driver raises an Xid when the fault sets in, some of them again and again."""

    def effect(causes: Causes, cards: Cards, _strength: float, age_seconds: int) -> None:
        if age_seconds == 0 or (is_repeated and age_seconds % _REPEATED_EVERY_SECONDS == 0):
            causes.xid[cards] = float(code)

    return effect
