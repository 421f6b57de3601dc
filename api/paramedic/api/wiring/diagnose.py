"""Puts the diagnosis process together."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from paramedic.api.wiring.stopping import stop_on_signals
from paramedic.api.wiring.translation import diagnose_config
from paramedic.ingest.bus.address import open_bus

if TYPE_CHECKING:
    from paramedic.api.settings.schema import Settings


def diagnose(bus_address: str, settings: Settings) -> int:
    """Publish verdicts until asked to end. Raises BusError when the bus cannot be used."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    with stop_on_signals() as stop:
        from paramedic.diagnosis.service import run

        run(diagnose_config(settings), open_bus(bus_address), time.monotonic, stop)
    return 0
