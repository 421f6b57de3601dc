"""Puts the diagnosis process together."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from paramedic.api.wiring.liveness import BeatingStop
from paramedic.api.wiring.sign_file import SignFile
from paramedic.api.wiring.stopping import stop_on_signals
from paramedic.api.wiring.translation import diagnose_config
from paramedic.ingest.bus.address import open_bus

if TYPE_CHECKING:
    from pathlib import Path

    from paramedic.api.settings.schema import Settings


def diagnose(bus_address: str, settings: Settings, sign_file: Path | None) -> int:
    """Publish verdicts until asked to end. Raises BusError when the bus cannot be used.

    Its loop gives signs of life in the file, where one is named.
    """
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    with stop_on_signals() as stop:
        from paramedic.diagnosis.service import run

        beating = stop if sign_file is None else BeatingStop(stop, SignFile(sign_file, time.time))
        run(diagnose_config(settings), open_bus(bus_address), time.monotonic, beating)
    return 0
