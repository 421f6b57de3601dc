"""What the routes work with: it hangs on the application and comes to each route as an argument."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Protocol

from fastapi import Depends, Request

from paramedic.remediation.contract import MaintenanceBook, Records


class Signs(Protocol):
    """The signs of life of something that runs beside the API."""

    def is_alive(self) -> bool:
        """Whether the last sign is young enough."""
        ...

    def silent_seconds(self) -> float:
        """Seconds since the last sign."""
        ...


class NoFigureError(Exception):
    """A verdict cannot be drawn; says why."""


class Figures(Protocol):
    """Whoever draws verdicts."""

    def draw(self, verdict: bytes, verdict_id: str, form: str) -> bytes:
        """The figure as `svg` or `png`; takes seconds. Raises NoFigureError."""
        ...


@dataclass(frozen=True, slots=True)
class ApiState:
    """The records to read from, and who else lives in this process."""

    records: Records
    version: str
    signs: Mapping[str, Signs]
    """The signs of life of each neighbour, such as `remediate`, by its name."""
    book: MaintenanceBook | None = None
    """Where declared maintenance is kept; None where nothing may be written."""
    figures: Figures | None = None
    """None where no telemetry is kept."""


def _state(request: Request) -> ApiState:
    state: ApiState = request.app.state.paramedic
    return state


State = Annotated[ApiState, Depends(_state)]
