"""A node whose telemetry has ceased while that of its peers comes: absence is a symptom.

GPU rows and host rows come from different exporters, so each kind is followed by itself. A node's
silence counts only in seconds in which most nodes are heard, and anew after a silence of most: when
the source comes back from an outage, its nodes come one after the other, and one is the last.

Exporters are restarted and scrapes get lost, for a minute now and then; so silence alone says
little, and says it late. A node that falls silent when the job comes to stand is what it waits for,
unless nodes of this job are often silent for as long.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from enum import IntEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.beginnings import OF_NODES_SECONDS
from paramedic.diagnosis.ended_silences import LONGEST_SILENCES, EndedSilences
from paramedic.diagnosis.motion import Motion
from paramedic.diagnosis.step_period import step_seconds
from paramedic.ingest.contract import Entity
from paramedic.models.cell_memory import CellMemory
from paramedic.models.leave_one_out import median_of_known

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from paramedic.ingest.contract import EntityKey, NodeName, Window

_SLOTS_TO_BE_BACK = 3
_STANDING_SECONDS = 10.0
"""So long a silence is enough when the job stands still since then."""
EXPORTER_RESTART_SECONDS = 30.0
"""So long it takes when the node's host is heard, or the job went on without the node for more than
a step: exporters are restarted."""
_AT_ONCE_SECONDS = 8.0
_MISSED_SECONDS = 3.0
_LONGEST_STEP_SECONDS = 60
"""What had begun when a node fell silent may go on for so long before everybody waits."""
_SLACK_SECONDS = 2
_LARGEST_SHARE = 1 / 3
"""Of more nodes than this at once it is their source that is silent."""
_FEWEST_SLOTS = 3
_FEWEST_NODES, _PAIR = 3, 2
"""Of two nodes neither is a majority: only in a job that stands one of them is missed."""


@dataclass(frozen=True, slots=True)
class Absence:
    """A node that is not heard of."""

    node: NodeName
    kinds: tuple[Entity, ...]
    """What is missing."""
    since: int
    """When the silence that counts began."""
    second: int
    peers_heard: int
    """How many others are heard in what is missing of it."""
    is_standing: bool = False
    """Whether the job stands still since then."""
    is_whole: bool = True
    """Whether it is all that was ever heard of it."""


class _Field(IntEnum):
    HEARD = 0
    """The newest second; 0: never."""
    STREAK = 1
    """Slots in a row that were heard."""
    SILENT = 2
    """Seconds without it in which most are heard."""
    GAP = 3
    """Seconds between the two newest that were heard."""
    GAP_BEFORE = 4
    """The gap before that: an outage is one long gap, a slow source has nothing else."""


_ONE = ("telemetry",)


@dataclass(slots=True)
class _Kind:
    """What is heard of the nodes by one kind of rows."""

    rows: tuple[EntityKey, ...] = ()
    starts: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, np.intp))
    nodes: tuple[NodeName, ...] = ()
    memory: CellMemory = field(default_factory=lambda: CellMemory(len(_Field)))
    present: int = 0
    """How many nodes are heard now."""
    second: int = 0
    """The newest slot."""
    ended: EndedSilences = field(default_factory=EndedSilences)

    def hear(self, window: Window, timeout_seconds: float, late: Mapping[NodeName, int]) -> None:
        """Take the newest slot in; `late` is when rows of a node came that were too late for it."""
        if window.rows is not self.rows:
            self._meet(window.rows)
        self.memory.arrange(self.nodes, _ONE)
        here = window.observed.T[-1].any(axis=0)
        seen = np.logical_or.reduceat(here, self.starts)
        self._note(seen, window.last_second)
        self._count_silence(seen, window, timeout_seconds)
        self._excuse(late, window.last_second)

    @property
    def heard(self) -> NDArray[np.float64]:
        return self.memory.line(_Field.HEARD)

    def absent(self, timeout_seconds: float, fewest_nodes: int) -> dict[NodeName, int]:
        """For how many seconds each node was not heard that most others are heard without."""
        silent = self.memory.line(_Field.SILENT)
        if len(self.nodes) < fewest_nodes or silent.max(initial=0.0) < timeout_seconds:
            return {}
        gone = (self.heard > 0) & (silent >= timeout_seconds)
        return {self.nodes[at]: int(silent[at]) for at in np.flatnonzero(gone).tolist()}

    def knows(self, node: NodeName) -> bool:
        """Whether the node was ever heard by these rows."""
        return node in self.nodes and bool(self.heard[self.nodes.index(node)] > 0)

    def _note(self, seen: NDArray[np.bool_], second: int) -> None:
        """Who is heard, and after how long."""
        gap, before = self.memory.line(_Field.GAP), self.memory.line(_Field.GAP_BEFORE)
        heard, streak = self.heard, self.memory.line(_Field.STREAK)
        again = seen & (heard > 0)
        np.copyto(before, gap, where=again)
        np.copyto(gap, second - heard, where=again)
        np.copyto(heard, second, where=seen)
        streak += 1
        streak *= seen

    def _count_silence(
        self, seen: NDArray[np.bool_], window: Window, timeout_seconds: float
    ) -> None:
        """A slot counts while most are heard; when they are not, or slots are missing, anew."""
        second, silent = window.last_second, self.memory.line(_Field.SILENT)
        is_old = self._lately_seconds(window.slot_seconds, timeout_seconds)
        present = (self.heard > 0) & (second - self.heard < is_old)
        self.present = int(np.count_nonzero(present))
        silent += window.slot_seconds
        longest = int(silent[seen & (self.heard > 0)].max(initial=0))
        if longest > _SLACK_SECONDS * window.slot_seconds:
            self.ended.note(longest, second)
        silent[seen] = 0
        is_pair = len(self.nodes) == _PAIR and self.present > 0
        are_few = 2 * self.present <= len(self.nodes) and not is_pair
        if are_few or second - self.second >= is_old:
            silent[:] = 0
        self.second = second

    def _excuse(self, late: Mapping[NodeName, int], second: int) -> None:
        """What comes late is not lost: silence begins after it."""
        if not late:
            return
        silent = self.memory.line(_Field.SILENT)
        for at, node in enumerate(self.nodes):
            if node in late:
                silent[at] = min(silent[at], max(second - late[node], 0))

    def _lately_seconds(self, slot_seconds: int, timeout_seconds: float) -> float:
        """Who was heard so long ago counts as heard still: twice as long as it usually takes."""
        gap = np.minimum(self.memory.line(_Field.GAP), self.memory.line(_Field.GAP_BEFORE))
        usual = max(float(slot_seconds), median_of_known(gap))
        return min(timeout_seconds / 2, 2 * usual)

    def is_back(self, node: NodeName) -> bool:
        """Whether the node is heard again, or never was by these rows."""
        if node not in self.nodes:
            return True
        at = self.nodes.index(node)
        streak = self.memory.line(_Field.STREAK)[at]
        return bool(self.heard[at] == 0 or streak >= _SLOTS_TO_BE_BACK)

    def _meet(self, rows: tuple[EntityKey, ...]) -> None:
        """Rows are sorted by node, so each node's are neighbours."""
        starts = [at for at, row in enumerate(rows) if at == 0 or row.node != rows[at - 1].node]
        self.rows, self.starts = rows, np.array(starts, np.intp)
        self.nodes = tuple(rows[at].node for at in starts)


_NOBODY_LATE: Mapping[Entity, Mapping[NodeName, int]] = MappingProxyType({})


class AbsenceWatch:
    """Follows which nodes of a job are heard of, slot by slot."""

    def __init__(self, timeout_seconds: float) -> None:
        self._timeout_seconds = timeout_seconds
        self._kinds: dict[Entity, _Kind] = {}
        self.motion = Motion()
        """Whether the job works, as its GPUs show."""

    def judge(
        self,
        windows: Mapping[Entity, Window],
        late: Mapping[Entity, Mapping[NodeName, int]] = _NOBODY_LATE,
    ) -> Iterator[Absence]:
        """The nodes that have been missing for the time-out, and of which nothing came late."""
        told = {entity: window for entity, window in windows.items() if window.rows}
        for entity, window in told.items():
            kind = self._kinds.setdefault(entity, _Kind())
            timeout = max(self._timeout_seconds, _FEWEST_SLOTS * window.slot_seconds)
            kind.hear(window, timeout, late.get(entity, {}))
            if entity is Entity.GPU:
                self.motion.hear(window)
        standing = {one.node: one for one in self._standing(told)}
        yield from standing.values()
        for absence in self._missing(told, self._timeout_seconds):
            if absence.node not in standing:
                yield absence

    def _missing(
        self,
        told: Mapping[Entity, Window],
        timeout_seconds: float,
        fewest_nodes: int = _FEWEST_NODES,
    ) -> Iterator[Absence]:
        missing: dict[NodeName, dict[Entity, int]] = {}
        for entity, window in told.items():
            timeout = max(timeout_seconds, _FEWEST_SLOTS * window.slot_seconds)
            for node, silent_seconds in self._kinds[entity].absent(timeout, fewest_nodes).items():
                missing.setdefault(node, {})[entity] = silent_seconds
        second = max((window.last_second for window in told.values()), default=0)
        for node, kinds in missing.items():
            # Who is missing is not among those who are heard in the same kind of rows.
            others = max(self._kinds[entity].present for entity in kinds)
            since = second - min(kinds.values())
            known = {entity for entity in told if self._kinds[entity].knows(node)}
            whole = known == set(kinds)
            yield Absence(node, tuple(kinds), since, second, others, is_whole=whole)

    def _standing(self, told: Mapping[Entity, Window]) -> list[Absence]:
        """Who fell silent, its GPUs at least, when the job came to stand."""
        if Entity.GPU not in told:
            return []
        begun = self.motion.standing_since(told[Entity.GPU].slot_seconds)
        if begun is None:
            return []
        usual = self._kinds[Entity.GPU].ended.usual_seconds(told[Entity.GPU].last_second)
        least = max(_STANDING_SECONDS, LONGEST_SILENCES * usual)
        missing = [
            one
            for one in self._missing(told, least, _PAIR)
            if Entity.GPU in one.kinds and begun - _LONGEST_STEP_SECONDS <= one.since
        ]
        step = (missing and step_seconds(told[Entity.GPU])) or 0.0
        # A job may come to stand in a part of its step in which cards do little anyway.
        latest = begun + max(_SLACK_SECONDS, told[Entity.GPU].slot_seconds, step / 2)
        found = [
            replace(one, is_standing=True)
            for one in missing
            if one.since <= latest
            if (one.is_whole and begun - one.since <= _AT_ONCE_SECONDS + step)
            or one.second - one.since >= EXPORTER_RESTART_SECONDS
        ]
        most = max(1.0, _LARGEST_SHARE * len(self._kinds[Entity.GPU].nodes))
        return found if len(found) <= most else []

    def missed_for(self, node: NodeName, since: int) -> float | None:
        """For how many seconds others' cards have been silent that fell silent about then and may
        be what is waited for; None where nobody's are."""
        found = self.silent_about(since, longest_seconds=EXPORTER_RESTART_SECONDS) - {node}
        silent = (self.silent_seconds(one, Entity.GPU) for one in found)
        return max((seconds for seconds in silent if seconds is not None), default=None)

    def needed_seconds(self, entity: Entity, window: Window) -> float | None:
        """For how long such rows of a node have to be missed by now; None where nothing follows."""
        if entity is Entity.RANK:
            return None
        fewest = float(_FEWEST_SLOTS * window.slot_seconds)
        cards = self._kinds.get(Entity.GPU)
        stands = self.motion.standing_since(window.slot_seconds) is not None
        if entity is not Entity.GPU or cards is None or not stands:
            return max(self._timeout_seconds, fewest)
        usual = cards.ended.usual_seconds(window.last_second)
        return max(_STANDING_SECONDS, LONGEST_SILENCES * usual, fewest)

    def silent_seconds(self, node: NodeName, entity: Entity) -> float | None:
        """For how long such rows of the node have been missed; None where it never had any."""
        kind = self._kinds.get(entity)
        if kind is None or not kind.knows(node):
            return None
        return float(kind.memory.line(_Field.SILENT)[kind.nodes.index(node)])

    def silent_about(
        self, since: int, slot_seconds: int = 1, longest_seconds: float = math.inf
    ) -> set[NodeName]:
        """Whose cards have fallen silent about then, and are not heard again."""
        cards = self._kinds.get(Entity.GPU)
        if cards is None:
            return set()
        silent = cards.memory.line(_Field.SILENT)
        begun = cards.second - silent
        lately = (silent >= _MISSED_SECONDS) & (silent < longest_seconds)
        is_about_then = np.abs(begun - since) <= max(OF_NODES_SECONDS, 2 * slot_seconds)
        found = np.flatnonzero((cards.heard > 0) & lately & is_about_then).tolist()
        return {cards.nodes[at] for at in found}

    def is_back(self, node: NodeName) -> bool:
        """Whether the node is heard again in all that was heard of it before."""
        return all(kind.is_back(node) for kind in self._kinds.values())
