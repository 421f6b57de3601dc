"""What the routes work with: it hangs on the application and comes to each route as an argument."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from paramedic.remediation.contract import Records


@dataclass(frozen=True, slots=True)
class ApiState:
    """The records to read from, and who else lives in this process."""

    records: Records
    version: str
    alive: Mapping[str, Callable[[], bool]]
    """Name of a neighbour, such as `remediate`, to whether it is alive."""


def _state(request: Request) -> ApiState:
    state: ApiState = request.app.state.paramedic
    return state


State = Annotated[ApiState, Depends(_state)]
