"""Events and slots that tell of errors, and a watch with its docket to tell them to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np

from paramedic.diagnosis.contract import Verdict
from paramedic.diagnosis.docket import Docket
from paramedic.diagnosis.going_on import GoingOn
from paramedic.diagnosis.known_errors.entry import KnownErrors
from paramedic.diagnosis.known_errors.memory import KnownErrorMemory
from paramedic.diagnosis.known_errors.reading import shipped_known_errors
from paramedic.diagnosis.known_errors.settings import KnownErrorSettings
from paramedic.diagnosis.known_errors.watch import KnownErrorWatch
from paramedic.diagnosis.liveness import Liveness
from paramedic.diagnosis.motion import Motion
from paramedic.diagnosis.picture import JobPicture
from paramedic.ingest.contract import (
    Entity,
    EntityKey,
    Event,
    EventKind,
    JobName,
    NodeName,
    Window,
)

JOB = JobName("known")
START = 1_790_000_000
NODES, GPUS = 3, 4
Detail = str | int | float | bool | None


def name(node: int) -> NodeName:
    return NodeName(f"node-{node:04d}")


def event(
    kind: EventKind, at: float, node: int, gpu: int | None = None, **details: Detail
) -> Event:
    when = datetime.fromtimestamp(START + at, UTC)
    return Event(when, kind, JOB, name(node), gpu, None, 0, details)


def xid(code: int, at: float = 0, node: int = 1, gpu: int | None = 2, **details: Detail) -> Event:
    return event(EventKind.XID, at, node, gpu, xid=code, **details)


def sxid(code: int, at: float = 0, node: int = 1, **details: Detail) -> Event:
    return event(EventKind.SXID, at, node, None, sxid=code, **details)


def asked(action: int, at: float = 0, node: int = 1, gpu: int = 2) -> Event:
    """Xid 154: what the driver asks for."""
    return xid(154, at, node, gpu, recovery_action=action)


Values = Mapping[tuple[int, int], float]
"""By node and GPU; all others are zero, NaN is not observed."""


@dataclass
class Told:
    """A watch that is told things, and everything that it said."""

    known_errors: KnownErrors = field(default_factory=shipped_known_errors)
    settings: KnownErrorSettings = field(default_factory=KnownErrorSettings)
    said: list[Verdict] = field(default_factory=list)
    docket: Docket = field(default_factory=lambda: Docket(JOB))
    memory: KnownErrorMemory = field(default_factory=KnownErrorMemory)
    picture: JobPicture = field(default_factory=JobPicture)
    going_on: GoingOn = field(default_factory=lambda: GoingOn(Liveness(5), Motion()))
    _columns: dict[str, list[np.ndarray[tuple[int, ...], np.dtype[np.float32]]]] = field(
        default_factory=dict
    )

    def __post_init__(self) -> None:
        self._watch = KnownErrorWatch(self.known_errors, self.settings)

    def hear(self, *events: Event) -> list[Verdict]:
        """What the watch says to these events."""
        new = [
            verdict
            for one in events
            for verdict in self._watch.hear(one, self.memory, self.picture, self.docket)
        ]
        self.said += new
        return new

    def show(self, metric: str, at: int, values: Values) -> list[Verdict]:
        """What the watch says to one more slot."""
        column = np.zeros((NODES, GPUS), np.float32)
        for place, value in values.items():
            column[place] = value
        slots = self._columns.setdefault(metric, [])
        slots.append(column.reshape(-1, 1))
        window = _window(metric, np.stack(slots[-12:], axis=2), at)
        new = list(self._watch.look(window, self.memory, self.picture, self.docket, self.going_on))
        self.said += new
        return new

    @property
    def open(self) -> list[Verdict]:
        return list(self.docket.open.values())


def _window(
    metric: str, values: np.ndarray[tuple[int, ...], np.dtype[np.float32]], at: int
) -> Window:
    rows = tuple(EntityKey(Entity.GPU, name(n), g) for n in range(NODES) for g in range(GPUS))
    first = START + at - values.shape[2] + 1
    return Window(JOB, 0, Entity.GPU, first, rows, (metric,), values, ~np.isnan(values))
