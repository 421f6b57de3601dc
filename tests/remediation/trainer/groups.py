"""Groups whose members are all in this process, over real gloo."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import timedelta

import torch.distributed as dist
from torch._C._distributed_c10d import HashStore

from paramedic.remediation.trainer.collective_log import CollectiveLog
from paramedic.remediation.trainer.interruptible_group import InterruptibleGroup
from paramedic.remediation.trainer.interruption import Interruption

_LONG = timedelta(seconds=60)


def connected_group(size: int) -> list[InterruptibleGroup]:
    """Members of one group, lowest rank first."""
    store = HashStore()
    members: dict[int, InterruptibleGroup] = {}

    def connect(rank: int) -> None:
        raw = dist.ProcessGroupGloo(store, rank, size, _LONG)
        members[rank] = InterruptibleGroup(raw, Interruption(0), CollectiveLog(time.monotonic))

    run_together([lambda rank=rank: connect(rank) for rank in range(size)])  # type: ignore[misc]
    return [members[rank] for rank in range(size)]


def run_together(tasks: list[Callable[[], None]]) -> list[Exception | None]:
    """Each in a thread of its own, as if they were processes; how each ended."""
    ends: list[Exception | None] = [None] * len(tasks)

    def run(number: int) -> None:
        try:
            tasks[number]()
        except (RuntimeError, ValueError, OSError) as error:
            ends[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(tasks))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads), "a member waits for ever"
    return ends
