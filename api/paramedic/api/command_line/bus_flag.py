"""The bus of a process that does not start one itself."""

from __future__ import annotations

from paramedic.api.command_line.errors import UsageError
from paramedic.api.command_line.verbs import Call


def existing_bus(call: Call, verb: str) -> str:
    """The address of a bus that exists. Raises UsageError where the setting names none."""
    address = call.settings.bus.address
    if address in ("embedded", "kafka"):
        raise UsageError(
            f"{verb} needs the address of a bus that exists: --bus kafka://HOST:PORT, or the "
            "`bus` of a run's run.json"
        )
    return address
