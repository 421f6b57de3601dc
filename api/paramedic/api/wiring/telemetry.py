"""The agent of a run: its thread, the processes that it watches, and its way onto the bus."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from paramedic.api.wiring.agent_guard import AgentGuard
from paramedic.api.wiring.observing import placements
from paramedic.api.wiring.watching import WatchKeeper
from paramedic.ingest.contract import Message, TelemetryBatch, Topic

if TYPE_CHECKING:
    from paramedic.api.wiring.request import Place

_STOP_SECONDS = 2.0
_NEVER_ON_THE_BUS = -1


def start_agent(
    place: Place,
    publish: Callable[[Topic, str, bytes], None],
    key: str,
    stack: ExitStack,
    say: Callable[[str], None],
) -> WatchKeeper:
    """Start the agent; the stack ends it. Its socket is there when this returns.

    `say` hears one line if the agent ends before its time.

    Raises AgentSetupError.
    """
    from paramedic.ingest.agent.configuration import AgentConfig
    from paramedic.ingest.agent.thread import AgentThread
    from paramedic.ingest.agent.watched import WatchList
    from paramedic.ingest.batch.encode import encode

    def publish_batch(batch: TelemetryBatch) -> None:
        publish(Topic.TELEMETRY, key, encode(batch))

    def dead_letter(payload: bytes, reason: str) -> None:
        publish(Topic.DEAD_LETTER, key, letter_of_datagram(key, payload, reason))

    watch = WatchList()
    config = AgentConfig(place.job, place.telemetry_socket)
    agent = AgentThread(config, watch, publish_batch, dead_letter)
    stack.callback(agent.stop, _STOP_SECONDS)
    agent.start()
    guard = AgentGuard(agent, say)
    keeper = WatchKeeper(lambda: placements(place.control_socket, place.job), watch, guard.look)
    stack.callback(keeper.close, _STOP_SECONDS)
    keeper.start()
    return keeper


def letter_of_datagram(key: str, payload: bytes, reason: str) -> bytes:
    """A trainer's datagram that cannot be read, as a dead letter: telemetry that never was one."""
    from paramedic.ingest.contract import DeadLetter

    never = Message(Topic.TELEMETRY, key, payload, offset=_NEVER_ON_THE_BUS)
    return DeadLetter.of(never, reason).to_json()
