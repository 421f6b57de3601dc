"""Chooses the rank to hit and hits it; the system that is watched is told nothing."""

from __future__ import annotations

import random
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramedic.api.demo.errors import DemoRunError
from paramedic.api.demo.injector import Duty, PinnedProcess, slow_down
from paramedic.api.demo.observations import Injection
from paramedic.api.demo.request import InjectedFault

if TYPE_CHECKING:
    from paramedic.remediation.launchers.port import Placement

_JOIN_SECONDS = 5.0
_WORDS = {
    InjectedFault.KILL: "SIGKILL to",
    InjectedFault.FREEZE: "SIGSTOP to",
    InjectedFault.SLOW: "half of the time taken from",
}


@dataclass(frozen=True, slots=True)
class Target:
    """The rank that will be hit."""

    rank: int
    node: str
    process_id: int
    generation: int


def choose_target(
    placements: Sequence[Placement], rank: int | None, chance: random.Random
) -> Target:
    """The rank that was asked for, or one at random. Raises DemoRunError when it has no process."""
    targets = [
        Target(one.rank, one.node, one.process_id, one.generation)
        for one in placements
        if one.rank is not None and one.process_id is not None and rank in (None, one.rank)
    ]
    if not targets:
        raise DemoRunError(f"no process of rank {'any' if rank is None else rank} to hit")
    return chance.choice(sorted(targets, key=lambda target: target.rank))


def describe_injection(fault: InjectedFault, target: Target) -> str:
    """The line of the timeline."""
    return (
        f"{_WORDS[fault]} rank {target.rank} on {target.node} (process {target.process_id}); "
        "the system is not told"
    )


@contextmanager
def hurting(
    fault: InjectedFault, target: Target, clock: Callable[[], float] = time.monotonic
) -> Iterator[Injection]:
    """Hit the target; it is let go when the context ends, if it still lives."""
    with ExitStack() as stack:
        try:
            victim = stack.enter_context(PinnedProcess(target.process_id))
        except ProcessLookupError as error:
            raise DemoRunError(f"rank {target.rank} ended before it could be hit") from error
        at_seconds = clock()
        if fault is InjectedFault.KILL:
            victim.send(signal.SIGKILL)
        elif fault is InjectedFault.FREEZE:
            stack.callback(victim.send, signal.SIGCONT)
            victim.send(signal.SIGSTOP)
        else:
            _slow_down_meanwhile(victim, stack, clock)
        yield Injection(at_seconds, target.rank, target.node, target.generation)


def _slow_down_meanwhile(
    victim: PinnedProcess, stack: ExitStack, clock: Callable[[], float]
) -> None:
    over = threading.Event()
    turns = threading.Thread(
        target=slow_down, args=(victim, Duty(), clock, over.wait), name="injector", daemon=True
    )

    def end() -> None:
        over.set()
        turns.join(_JOIN_SECONDS)

    turns.start()
    stack.callback(end)
