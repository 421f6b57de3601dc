"""A job without peers and without a supervisor, for the decisions of one process."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from paramedic.remediation.trainer.errors import GenerationBrokenError
from paramedic.remediation.trainer.interruption import Interruption


class ImaginedMembership:
    """Joins without peers; `on_rejoin` is what they have done meanwhile."""

    def __init__(self) -> None:
        self.generation = 0
        self.rank: int | None = 0
        self.world_size = 1
        self.newest_step: int | None = None
        self.interruption = Interruption(0)
        self.failures: list[str] = []
        self.on_rejoin: Callable[[], None] = lambda: None

    def rejoin(self, _settle: Callable[[], None]) -> None:
        self.generation += 1
        self.interruption = Interruption(self.generation)
        self.on_rejoin()

    def report_failure(self, error: RuntimeError) -> None:
        self.failures.append(str(error))


class ImaginedControl:
    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    def send(self, line: bytes) -> None:
        self.sent.append(json.loads(line))

    def close(self) -> None:
        pass


def failing(times: int, then: object = "done") -> Callable[[], object]:
    left = iter(range(times))

    def step() -> object:
        if next(left, None) is not None:
            raise GenerationBrokenError("a peer died")
        return then

    return step
