"""A job without processes: the membership with imagined workers and an imagined clock.

Tests tell it what happens (`say`, `exit`, `wait`) and read what came of it; `cooperate` lets every
imagined worker do what a good one does.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass, field

from paramedic.ingest.contract import EventKind, NodeName
from paramedic.remediation.launchers.local.commands import (
    Command,
    JobOver,
    MembershipRules,
    Publish,
    Send,
    SignalWorker,
    StartWorker,
)
from paramedic.remediation.launchers.local.exit_status import ExitStatus
from paramedic.remediation.launchers.local.membership import Membership
from paramedic.remediation.launchers.local.messages import (
    Assign,
    Committed,
    FromWorker,
    Hello,
    Ping,
    Pong,
    Ready,
    Replace,
    Stop,
    Store,
    ToWorker,
)
from paramedic.remediation.launchers.port import Outcome

_MAX_ROUNDS = 100


@dataclass(slots=True)
class ImaginedWorker:
    """A worker as it would see itself."""

    node: NodeName
    started: StartWorker
    received: list[ToWorker] = field(default_factory=list)
    signals: list[signal.Signals] = field(default_factory=list)
    has_greeted: bool = False
    is_ready: bool = False
    is_frozen: bool = False
    """Whether it does nothing any more but die."""
    answered: int = 0
    """How many of the received messages it has acted upon."""

    @property
    def assignment(self) -> Assign | None:
        """The newest generation that it was told to join."""
        assigned = [message for message in self.received if isinstance(message, Assign)]
        return assigned[-1] if assigned else None


class Rehearsal:
    """Carries out the membership's commands in imagination and remembers them all."""

    def __init__(self, rules: MembershipRules) -> None:
        self.membership = Membership(rules)
        self.now = 0.0
        self.alive: dict[NodeName, ImaginedWorker] = {}
        self.commands: list[Command] = []
        self.published: list[tuple[float, Publish]] = []
        """Every event with the time at which it was published."""
        self.over: JobOver | None = None
        # Each generation goes one step further, unless a test says where it begins.
        self.first_step: int | None = None
        """The step that imagined workers commit first in their next generation."""
        self.membership.start(self.now)
        self._carry_out()

    def say(self, node: NodeName, message: FromWorker) -> None:
        """A worker sends a message."""
        self.membership.heard(node, message, self.now)
        self._carry_out()

    def exit(
        self,
        node: NodeName,
        *,
        code: int | None = None,
        by: signal.Signals | None = None,
        blames_a_peer: bool = False,
    ) -> None:
        """A worker's process ends."""
        self.alive.pop(node)
        status = ExitStatus(code, by)
        self.membership.exited(node, status, self.now, blames_a_peer=blames_a_peer)
        self._carry_out()

    def wait(self, seconds: float) -> None:
        """Time passes."""
        self.now += seconds
        self.membership.time_passed(self.now)
        self._carry_out()

    def replace(self, node: NodeName, generation: int, key: str) -> Outcome:
        """An operator asks for a replacement."""
        outcome = self.membership.replace(Replace(node, generation, key, "a test"))
        self._carry_out()
        return outcome

    def stop(self) -> None:
        """An operator asks for the end."""
        self.membership.stop("stopped by a test", self.now)
        self._carry_out()

    def node_of(self, rank: int) -> NodeName:
        """The live worker that carries a rank."""
        return next(p.node for p in self.membership.placements() if p.rank == rank)

    def events(self, kind: EventKind) -> list[Publish]:
        """What was published of one kind, oldest first."""
        return [event for _, event in self.published if event.kind is kind]

    def states(self) -> list[object]:
        """The job states that were published, oldest first."""
        return [event.details["state"] for event in self.events(EventKind.JOB_STATE)]

    def cooperate(self) -> None:
        """Every worker does what is due until nobody has anything to do."""
        for _ in range(_MAX_ROUNDS):
            moves = [self._move(worker) for worker in tuple(self.alive.values())]
            if not any(moves):
                return
        raise RuntimeError(f"the imagined workers did not come to rest in {_MAX_ROUNDS} rounds")

    def _move(self, worker: ImaginedWorker) -> bool:
        if worker.node not in self.alive:
            return True
        if worker.signals:
            self.exit(worker.node, by=worker.signals[-1])
        elif worker.is_frozen:
            return False
        elif not worker.has_greeted:
            self.greet(worker.node)
        elif not worker.is_ready:
            self.make_ready(worker.node)
        elif worker.answered < len(worker.received):
            worker.answered += 1
            self._answer(worker, worker.received[worker.answered - 1])
        else:
            return False
        return True

    def greet(self, node: NodeName) -> None:
        """A worker says hello."""
        self.alive[node].has_greeted = True
        self.say(node, Hello(node, process_id=int(node.rpartition("-")[2])))

    def make_ready(self, node: NodeName) -> None:
        """A worker says that it is warmed up."""
        self.alive[node].is_ready = True
        self.say(node, Ready(node))

    def _answer(self, worker: ImaginedWorker, message: ToWorker) -> None:
        if isinstance(message, Stop):
            self.exit(worker.node, code=0)
        elif isinstance(message, Assign) and message == worker.assignment:
            if message.store_port is None:
                self.say(worker.node, Store(message.generation, port=4000))
            if worker.node in self.alive:
                step = message.generation if self.first_step is None else self.first_step
                self.say(worker.node, Committed(message.generation, step))

    def _answer_ping(self, worker: ImaginedWorker) -> None:
        if not worker.is_frozen:
            self.membership.heard(worker.node, Pong(), self.now)

    def _carry_out(self) -> None:
        for command in self.membership.take_commands():
            self.commands.append(command)
            match command:
                case StartWorker():
                    self.alive[command.node] = ImaginedWorker(command.node, command)
                case SignalWorker():
                    self.alive[command.node].signals.append(command.signal)
                case Send(message=Ping()):
                    self._answer_ping(self.alive[command.node])
                case Send():
                    self.alive[command.node].received.append(command.message)
                case Publish():
                    self.published.append((self.now, command))
                case JobOver():
                    self.over = command
