"""All rows of one kind, GPUs or nodes, followed by the model and weighed slot after slot."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from paramedic.diagnosis.evidence import Evidence, Terms, level_nats
from paramedic.diagnosis.recent import newest_slot
from paramedic.models.circles import Circles
from paramedic.models.departure.character import telling
from paramedic.models.departure.model import DepartureConfig

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Sequence

    from numpy.typing import NDArray

    from paramedic.diagnosis.roles import JobRoles
    from paramedic.diagnosis.settings import DepartureSettings
    from paramedic.ingest.contract import EntityKey, Window
    from paramedic.models.departure.model import DepartureModel, Departures

_FEWEST_IN_CIRCLE = 5
"""With fewer rows of a role, all rows of the job are peers …"""
_FEWEST_NODES_IN_CIRCLE = 3
"""… and with fewer nodes: of two nobody can tell which of them departs."""
_SETTLES_AGAIN_SLOTS = 10.0
_FEWEST_REMEMBERED = 15.0
_KEPT_OF_DOUBTED = 0.3
_MOSTLY = 0.7
_LONE_SAMPLES = 4.0
"""A sample of what a card does depends on where in the step it was taken: so many have to say it
where no other metric does."""
_STANDING_HURRY = 3.0
"""What passes by itself stops no job: in one that stands, patience is so many times shorter."""


@dataclass(slots=True)
class _Seating:
    """Circles, kept as long as the rows are the same."""

    rows: tuple[EntityKey, ...] = ()
    version: int = -1
    circles: Circles | None = None

    def is_of(self, rows: tuple[EntityKey, ...], version: int) -> bool:
        return rows is self.rows and version == self.version

    def of(
        self, rows: tuple[EntityKey, ...], version: int, keys: Sequence[Hashable] | None
    ) -> Circles:
        if not self.is_of(rows, version):
            self.rows, self.version = rows, version
            self.circles = None if keys is None else Circles.of(keys)
        return self.circles  # type: ignore[return-value]


class _Asked(NamedTuple):
    """What terms come of."""

    metrics: tuple[str, ...]
    tests: int
    settings: DepartureSettings
    step_seconds: float
    slot_seconds: int
    busy_seconds: float
    stands: bool


@dataclass(slots=True)
class RowsTest:
    """Model and evidence of one kind of rows."""

    model: DepartureModel
    evidence: Evidence
    slot: Departures | None = None
    """The newest slot."""
    slot_seconds: int = 1
    _hosts: _Seating = field(default_factory=_Seating)
    _roles: _Seating = field(default_factory=_Seating)
    _agreed: tuple[_Asked, Terms] | None = None
    """What the newest slot was judged by, and what that came of."""

    @classmethod
    def of(cls, settings: DepartureSettings) -> RowsTest:
        """A test that has seen nothing yet."""
        paces, allowance = settings.smoothing_seconds, settings.allowance_nats
        model = DepartureConfig(smoothing_seconds=paces, least_nats=allowance).build()
        return cls(model, Evidence(len(paces)))

    def restart(self) -> None:
        """Forget all evidence: nothing of before speaks of now."""
        self.model.restart()
        self.evidence.restart()

    def weigh(
        self, window: Window, roles: JobRoles | None, tests: int, settings: DepartureSettings,
        step_seconds: float = 0.0, busy_seconds: float = np.inf, stands: bool = False,
    ) -> None:  # fmt: skip
        """Add the window's newest slot; `tests` is how many rows of all kinds are tested.

        `step_seconds` is how long a step of the job takes, if that is known; `busy_seconds`: so
        long a host has to be busy at most; `stands`: whether the job does.
        """
        kept = telling(window.metrics)
        metrics = tuple(window.metrics[at] for at in kept)
        values = newest_slot(window, kept)
        circles = self.peers_of(window.rows, roles)
        self.slot_seconds = width = window.slot_seconds
        slot = self.slot = self.model.score(values, window.rows, metrics, circles, width)
        if slot.has_turned:
            self.evidence.restart()
            self.evidence.settle(_SETTLES_AGAIN_SLOTS)
        asked = _Asked(slot.metrics, tests, settings, step_seconds, width, busy_seconds, stands)
        self.evidence.add(slot, window.last_second, self._terms(slot, asked))

    def _terms(self, slot: Departures, asked: _Asked) -> Terms:
        """Those of the slot before, as long as nothing that they come of is another."""
        if self._agreed is None or self._agreed[0] != asked:
            self._agreed = asked, self._new_terms(slot, asked)
        return self._agreed[1]

    def _new_terms(self, slot: Departures, asked: _Asked) -> Terms:
        _, tests, settings, step_seconds, width, busy_seconds, stands = asked
        hurry = _STANDING_HURRY if stands else 1.0
        soonest = np.where(slot.characters.usage, busy_seconds, np.inf)[:, None]
        return Terms(
            base_level=level_nats(
                settings.false_alarms_per_job_day, tests * self.evidence.paces, width
            ),
            allowance_nats=settings.allowance_nats,
            least_slots=settings.harmless_seconds / width,
            settle_slots=settings.learning_seconds / width,
            newcomer_slots=settings.newcomer_settle_seconds / width,
            smoothing=self.model.smoothing(width),
            patience_slots=np.minimum(slot.characters.patience_seconds / hurry, soonest) / width,
            lone_slots=np.maximum(
                np.minimum(slot.characters.lone_seconds / hurry, soonest) / width,
                np.where(slot.characters.work, _LONE_SAMPLES, 0.0)[:, None],
            ),
            memory_slots=self.model.memory_slots(width),
            forgetting_slots=max(_FEWEST_REMEMBERED, settings.forgetting_seconds / width),
            step_slots=0.0 if stands else step_seconds / width,
        )

    @property
    def terms(self) -> Terms | None:
        """What the newest slot was judged by; None: none was yet."""
        return None if self._agreed is None else self._agreed[1]

    def is_sick(self, rows: NDArray[np.intp]) -> bool:
        """Whether the surest of these rows has shown enough that tells of itself alone."""
        assert self.slot is not None  # it has been weighed
        strength = self.evidence.strength[rows]
        speaks = self.evidence.speakers(int(rows[int(strength.argmax())]))
        own = float(speaks[self.slot.characters.of_itself].sum())
        return bool(strength.max() >= 1) and own >= _MOSTLY * float(speaks.sum()) > 0

    def doubt(self, rows: Collection[EntityKey]) -> None:
        """Something harmless explains what speaks against these rows: most of it is dropped."""
        known = {row: at for at, row in enumerate(self.evidence.rows)}
        self.evidence.doubt([known[row] for row in rows], _KEPT_OF_DOUBTED)

    def hosts_of(self, rows: tuple[EntityKey, ...]) -> Circles:
        """The rows of each node; its GPUs share a host, a pipeline stage and whom they wait for."""
        if self._hosts.is_of(rows, 0) and self._hosts.circles is not None:
            return self._hosts.circles
        return self._hosts.of(rows, 0, [row.node for row in rows])

    def peers_of(self, rows: tuple[EntityKey, ...], roles: JobRoles | None) -> Circles | None:
        """The rows of the same pipeline stage; None where all rows are peers."""
        if roles is None:
            return None
        if self._roles.is_of(rows, roles.version):
            return self._roles.circles
        stage_of = {row.node: roles.stage_of(row.node) for row in rows}
        nodes, sizes = Counter(stage_of.values()), Counter(stage_of[row.node] for row in rows)
        has_peers = (
            len(nodes) > 1
            and min(nodes.values()) >= _FEWEST_NODES_IN_CIRCLE
            and min(sizes.values()) >= _FEWEST_IN_CIRCLE
        )
        stages = [stage_of[row.node] for row in rows] if has_peers else None
        return self._roles.of(rows, roles.version, stages)
