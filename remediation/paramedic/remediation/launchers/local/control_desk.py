"""Who speaks on the control socket: workers are bound to their node, operators are answered."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from paramedic.remediation.launchers.local.control_server import Client, ControlServer
from paramedic.remediation.launchers.local.messages import (
    FromOperator,
    FromWorker,
    Hello,
    Observe,
    OutcomeReply,
    PlacementsReply,
    Ready,
    Replace,
    ToWorker,
)
from paramedic.remediation.launchers.port import Effect, Outcome

if TYPE_CHECKING:
    from paramedic.ingest.contract import NodeName
    from paramedic.remediation.launchers.local.clock import Clock
    from paramedic.remediation.launchers.local.event_loop import EventLoop
    from paramedic.remediation.launchers.local.job_config import LocalJobConfig
    from paramedic.remediation.launchers.local.membership import Membership

_LOG = logging.getLogger(__name__)


class ControlDesk:
    """Hands what workers say to the membership, and answers operators."""

    def __init__(
        self, config: LocalJobConfig, loop: EventLoop, membership: Membership, clock: Clock
    ) -> None:
        """Listen at once. Raises LauncherSetupError when the socket cannot be opened."""
        self._job = config.job
        self._membership = membership
        self._clock = clock
        self._workers: dict[NodeName, Client] = {}
        self._server = ControlServer(loop, config.control_socket, self._heard, self._closed)

    def send(self, node: NodeName, message: ToWorker) -> None:
        """Tell a worker something; one that cannot be reached is noted."""
        client = self._workers.get(node)
        if client is None:
            _LOG.info("%s for %s: it is not connected", message.type, node)
        else:
            self._server.send(client, message)

    def hear_last_words(self, node: NodeName) -> None:
        """Take all that a worker has sent before it exited."""
        self._server.read_now(node)

    def close(self) -> None:
        """Close the socket."""
        self._server.close()

    def _heard(self, client: Client, message: FromWorker | FromOperator) -> None:
        match message:
            case Replace():
                outcome = self._replace(message)
                self._server.send(client, OutcomeReply(outcome.effect, outcome.reason))
            case Observe():
                self._server.send(client, self._placements())
            case Hello():
                self._bind(client, message)
            case _:
                self._heard_worker(client, message)

    def _replace(self, request: Replace) -> Outcome:
        if request.job not in (None, self._job):
            reason = f"this is the supervisor of {self._job}, not of {request.job}"
            return Outcome(Effect.REFUSED, reason)
        outcome = self._membership.replace(request)
        _LOG.info("replace %s: %s: %s", request.node, outcome.effect, outcome.reason)
        return outcome

    def _placements(self) -> PlacementsReply:
        membership = self._membership
        return PlacementsReply(self._job, membership.generation, membership.placements())

    def _bind(self, client: Client, message: Hello) -> None:
        refusal = self._reason_against(client, message)
        if refusal is not None:
            self._server.drop(client, f"says hello as {message.node}{refusal}")
            return
        before = self._workers.get(message.node)
        client.node = message.node
        client.process_id = message.process_id
        self._workers[message.node] = client
        if before is not None and before is not client:
            self._server.drop(before, "the same process has a newer connection")
        self._membership.heard(message.node, message, self._clock.monotonic())

    def _reason_against(self, client: Client, message: Hello) -> str | None:
        if client.node not in (None, message.node):
            return f" after {client.node}"
        if not self._membership.has_worker(message.node):
            return ", which is no live worker"
        before = self._workers.get(message.node)
        if before is not None and before.process_id != message.process_id:
            # A data-loader process, say, that imports the user's script once more.
            return f" from process {message.process_id}, but process {before.process_id} is it"
        return None

    def _heard_worker(self, client: Client, message: FromWorker) -> None:
        if client.node is None:
            self._server.drop(client, f"sends {message.type} before hello")
        elif isinstance(message, Ready) and message.node != client.node:
            self._server.drop(client, f"says ready for {message.node}")
        else:
            self._membership.heard(client.node, message, self._clock.monotonic())

    def _closed(self, client: Client) -> None:
        if client.node is not None and self._workers.get(client.node) is client:
            del self._workers[client.node]
            self._membership.disconnected(client.node, self._clock.monotonic())
