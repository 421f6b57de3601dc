"""What runs around a job: bus, agent, narrator, and the services as the launcher starts them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TextIO

from paramedic.api.wiring.bus import RunBus, run_bus
from paramedic.api.wiring.narration import lines_of_job
from paramedic.api.wiring.narrator import Narrator
from paramedic.api.wiring.request import Place, RunRequest
from paramedic.api.wiring.run_folder import sign_file
from paramedic.api.wiring.service_commands import Services
from paramedic.api.wiring.telemetry import start_agent
from paramedic.api.wiring.telling import say
from paramedic.api.wiring.watching import WatchKeeper
from paramedic.ingest.contract import Event, Topic

if TYPE_CHECKING:
    import socket

    from paramedic.remediation.launchers.local.service_keeper import ServiceSpec

_ONLY_SHARD = 0  # of a job of up to 512 nodes (formats, section 4)
_NARRATOR_CLOSE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Platform:
    """What a run around a job needs to know."""

    bus: RunBus
    key: str
    api_address: str
    services: tuple[ServiceSpec, ...]
    watch: WatchKeeper

    @property
    def bus_address(self) -> str:
        """Where other processes find the bus."""
        return self.bus.address

    def publish(self, event: Event) -> None:
        """Put an event on the bus, and have the agent look who is there; never waits."""
        self.bus.publish(Topic.EVENTS, self.key, event.to_json())
        self.watch.notice(event)


def start_platform(request: RunRequest, place: Place, stack: ExitStack, stderr: TextIO) -> Platform:
    """Start bus, agent and narrator; the stack ends them. Raises BusError."""
    bus = stack.enter_context(
        run_bus(request.settings, request.environment, place.sockets, place.logs)
    )
    narrator = Narrator(lines_of_job(place.job), bus.subscribe, stderr)
    narrator.start()
    stack.callback(narrator.close, _NARRATOR_CLOSE_SECONDS)
    from paramedic.ingest.batch.key import message_key

    assert place.listener is not None
    sign_file(place.run_folder).touch()
    key = message_key(place.job, _ONLY_SHARD)
    return Platform(
        bus=bus,
        key=key,
        api_address=_address(place.listener),
        services=_services(request, place, place.listener, bus, partial(say, stderr)),
        watch=start_agent(place, bus.publish, key, stack, partial(say, stderr)),
    )


def _services(
    request: RunRequest,
    place: Place,
    listener: socket.socket,
    bus: RunBus,
    tell: Callable[[str], None],
) -> tuple[ServiceSpec, ...]:
    services = Services(bus.address, place.run_folder, request.settings, request.environment, tell)
    return (
        services.diagnose(),
        services.remediate(place.control_socket, listener.fileno()),
        *services.capture(),
    )


def _address(listener: socket.socket) -> str:
    from paramedic.api.rest.loopback import address_of

    return address_of(listener)
