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
from paramedic.api.demo.injector import SLOW_SHARE, PinnedProcess, Quota, measure_share, slow_down
from paramedic.api.demo.observations import Injection
from paramedic.api.demo.request import InjectedFault

if TYPE_CHECKING:
    from paramedic.remediation.launchers.port import Placement

_JOIN_SECONDS = 5.0
_BASELINE_SECONDS = 3.0
_WORDS = {
    InjectedFault.KILL: "SIGKILL to",
    InjectedFault.FREEZE: "SIGSTOP to",
    InjectedFault.SLOW: "half of the processor time taken from",
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
    fault: InjectedFault,
    target: Target,
    clock: Callable[[], float] = time.monotonic,
    baseline_seconds: float = _BASELINE_SECONDS,
) -> Iterator[Injection]:
    """Hit the target; it is let go when the context ends, if it still lives.

    What half of its processor time is, is measured for the baseline's seconds before it is slowed.
    """
    with ExitStack() as stack:
        try:
            victim = stack.enter_context(PinnedProcess(target.process_id))
        except ProcessLookupError as error:
            raise DemoRunError(f"rank {target.rank} ended before it could be hit") from error
        over = threading.Event()
        usual = (
            measure_share(victim, baseline_seconds, clock, over.wait)
            if fault is InjectedFault.SLOW
            else 0.0
        )
        at_seconds = clock()
        if fault is InjectedFault.KILL:
            victim.send(signal.SIGKILL)
        elif fault is InjectedFault.FREEZE:
            stack.callback(victim.send, signal.SIGCONT)
            victim.send(signal.SIGSTOP)
        else:
            stack.enter_context(_slowed(victim, Quota(SLOW_SHARE * usual), over, clock))
        yield Injection(at_seconds, target.rank, target.node, target.generation)


@contextmanager
def _slowed(
    victim: PinnedProcess, quota: Quota, over: threading.Event, clock: Callable[[], float]
) -> Iterator[None]:
    turns = threading.Thread(
        target=slow_down, args=(victim, quota, clock, over.wait), name="injector", daemon=True
    )
    turns.start()
    try:
        yield
    finally:
        over.set()
        turns.join(_JOIN_SECONDS)
