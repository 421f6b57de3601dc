"""Finds Xid events in a gauge that sticks and in counters that slide.

The gauge holds the last code until the driver restarts, so only a change of it is news; two equal
codes in a row are invisible, and so is a grave code that a later one overwrites. The exporter's
own counters (`DCGM_EXP_XID_ERRORS_COUNT` over the last minutes, `…_TOTAL` since its start) tell
more where they are switched on. A code that stands when a GPU is first seen is told once as
`sticky`: nobody knows how old it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from paramedic.ingest.cleaning.lanes import Lane
from paramedic.ingest.cleaning.rows import Row
from paramedic.ingest.cleaning.units import Floats, Indices
from paramedic.ingest.contract import EventKind
from paramedic.ingest.sources.port import NodeFact

LEVEL = "gpu_xid"
RECENT = "gpu_xid_recent"
TOTAL = "gpu_xid_events_total"
_SAME_EVENT_SECONDS = 60.0
_REMEMBERED_EVENTS = 4096
# A GPU of which a part of an answer shows no code may have one on the next.
_PART_PATIENCE_SECONDS = 60.0

Code = tuple[Row, int]


@dataclass(frozen=True, slots=True)
class _News:
    """What is new of one code on one GPU."""

    count: int
    source: str
    is_sticky: bool = False


class XidLanes:
    """The lanes of a page that speak of Xids, and what they said last."""

    def __init__(self, lanes: Sequence[Lane]) -> None:
        found = [at for at, lane in enumerate(lanes) if lane.metric in (LEVEL, RECENT, TOTAL)]
        self.at: Indices = np.array(found, np.intp)
        self.lanes = tuple(lanes[at] for at in found)
        self.last = np.full(len(found), np.nan)
        self.rows = frozenset(lane.row for lane in lanes if _tells_of_xids(lane))
        self.is_first_page = True


class XidWatch:
    """Remembers the Xids of every GPU, whichever source told them."""

    def __init__(self) -> None:
        self._levels: dict[Row, int] = {}
        self._counts: dict[tuple[str, Row, int], float] = {}
        self._first_seen: dict[Row, float] = {}
        self._known_before = -np.inf
        self._told: dict[Code, tuple[float, str]] = {}

    def facts(
        self,
        page: XidLanes,
        lanes: Floats,
        now_seconds: float,
        uuids: Mapping[Row, str],
        is_whole: bool,
    ) -> tuple[NodeFact, ...]:
        """The events of a page, whose lanes' values are given (NaN: not observed)."""
        self._known_before = now_seconds - (0.0 if is_whole else _PART_PATIENCE_SECONDS)
        values = lanes[page.at]
        changed = np.flatnonzero(~np.isnan(values) & (values != page.last))
        if not len(changed) and not page.is_first_page:
            return ()
        page.last[changed] = values[changed]
        news = self._news_of_counts(page, values, changed, now_seconds)
        self._add_levels(page, values, changed, now_seconds, news)
        if page.is_first_page:
            page.is_first_page = False
            for row in page.rows:
                self._first_seen.setdefault(row, now_seconds)
        return tuple(
            _fact(code, one, now_seconds, uuids.get(code[0])) for code, one in news.items()
        )

    def _news_of_counts(
        self, page: XidLanes, values: Floats, changed: Indices, now_seconds: float
    ) -> dict[Code, _News]:
        news: dict[Code, _News] = {}
        for at in changed:
            lane = page.lanes[at]
            code = _code_of(lane)
            if lane.metric == LEVEL or code is None:
                continue
            found = self._grown(lane, code, float(values[at]))
            if found is None or self._was_told(code, "level", now_seconds, found.count):
                continue
            before = news.get(code)
            if before is None or before.is_sticky or found.count > before.count:
                news[code] = found
        for code in news:
            self._tell(code, "count", now_seconds)
        return news

    def _grown(self, lane: Lane, code: Code, value: float) -> _News | None:
        """What a counter adds; None when it adds nothing."""
        key = (lane.metric, *code)
        before = self._counts.get(key)
        self._counts[key] = value
        if before is None:
            if not self._is_known(code[0]) and lane.metric == TOTAL:
                return _News(int(value), lane.key[2], is_sticky=True) if value > 0 else None
            before = 0.0
        has_restarted = lane.metric == TOTAL and value < before
        count = int(value if has_restarted else value - before)
        return _News(count, lane.key[2]) if count > 0 else None

    def _add_levels(
        self,
        page: XidLanes,
        values: Floats,
        changed: Indices,
        now_seconds: float,
        news: dict[Code, _News],
    ) -> None:
        for at in changed:
            lane = page.lanes[at]
            if lane.metric != LEVEL:
                continue
            before = self._levels.get(lane.row, 0 if self._is_known(lane.row) else None)
            code = (lane.row, int(values[at]))
            self._levels[lane.row] = code[1]
            if code[1] in (0, before):
                continue
            if code in news:
                self._told.pop(code, None)
            elif not self._was_told(code, "count", now_seconds, 1):
                news[code] = _News(1, lane.key[2], is_sticky=before is None)
                self._tell(code, "level", now_seconds)

    def _is_known(self, row: Row) -> bool:
        """Whether the GPU was there before, so that no code so far means that there was none."""
        return self._first_seen.get(row, np.inf) < self._known_before

    def _was_told(self, code: Code, by: str, now_seconds: float, count: int) -> bool:
        """Whether gauge and counter speak of one event, each on a page of its own."""
        seconds, teller = self._told.get(code, (-np.inf, ""))
        if teller != by or now_seconds - seconds > _SAME_EVENT_SECONDS:
            return False
        del self._told[code]
        return count <= 1

    def _tell(self, code: Code, by: str, now_seconds: float) -> None:
        if len(self._told) > _REMEMBERED_EVENTS:
            self._told.clear()
        self._told[code] = (now_seconds, by)


def _tells_of_xids(lane: Lane) -> bool:
    """Whether the exporter would show a code of this GPU, if there were one."""
    return lane.exported is not None and lane.exported.dialect.startswith("dcgm")


def _code_of(lane: Lane) -> Code | None:
    text = lane.key[3][0] if lane.key[3] else ""
    if not (text.isascii() and text.isdigit() and len(text) < 6):
        return None
    return (lane.row, int(text))


def _fact(code: Code, news: _News, now_seconds: float, uuid: str | None) -> NodeFact:
    (node, gpu), xid = code
    details: dict[str, str | int | float | bool | None] = {"xid": xid, "source": news.source}
    if uuid is not None:
        details["uuid"] = uuid
    if news.count > 1:
        details["count"] = news.count
    if news.is_sticky:
        details["sticky"] = True
    return NodeFact(now_seconds, EventKind.XID, node, gpu, details)
