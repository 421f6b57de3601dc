"""The cleaner: pages as exporters print them in, canonical rows and facts out.

What a page's series stand for is worked out once for a list of series, and kept as arrays; a page
whose list did not change costs a few array operations and nothing per series.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from paramedic.ingest.catalogue.catalogue import Catalogue, shipped_catalogue
from paramedic.ingest.cleaning.cells import fill_cells, reject_impossible, tables_of
from paramedic.ingest.cleaning.explaining import (
    CleanSample,
    PageRead,
    computed_samples,
    read_samples,
)
from paramedic.ingest.cleaning.gpus import GpuIndices
from paramedic.ingest.cleaning.labels import named_by_page
from paramedic.ingest.cleaning.ownership import Ownership
from paramedic.ingest.cleaning.parts import Parts, SpreadPage, whole
from paramedic.ingest.cleaning.plan import PagePlan, page_plan
from paramedic.ingest.cleaning.port import CleanPage
from paramedic.ingest.cleaning.presence import Presence
from paramedic.ingest.cleaning.rates import CounterMemory
from paramedic.ingest.cleaning.resolving import Fate, Resolved, SeriesResolver
from paramedic.ingest.cleaning.rows import rows_of
from paramedic.ingest.cleaning.settings import CleaningSettings
from paramedic.ingest.cleaning.units import Booleans, Floats, Indices, UnitMemory
from paramedic.ingest.cleaning.values import Judged, Reason, count_reasons, judge
from paramedic.ingest.cleaning.xids import XidWatch
from paramedic.ingest.contract import NodeName
from paramedic.ingest.sources.port import NodeFact, RawPage, Series

Rejected = Counter[tuple[str, str]]


class _Origin:
    """What is remembered of one source of pages."""

    def __init__(self, origin: str, gap_seconds: float) -> None:
        self.plan: PagePlan | None = None
        self.default_node: NodeName | None = None
        self.named_node: NodeName | None = None
        """The default, or what the page calls its node where the default is only an address."""
        self.counters = CounterMemory(gap_seconds)
        self.presence = Presence(origin)
        self.parts = Parts(gap_seconds)


class TelemetryCleaner:
    """Cleans the pages of any number of origins (implements the port). Not for several threads."""

    def __init__(
        self, settings: CleaningSettings | None = None, catalogue: Catalogue | None = None
    ) -> None:
        self._settings = settings or CleaningSettings()
        self._catalogue = catalogue or shipped_catalogue()
        self._resolver = SeriesResolver(self._catalogue, self._settings)
        self._indices = GpuIndices()
        self._units = UnitMemory()
        self._ownership = Ownership(
            tuple(self._catalogue.metrics), self._settings.dialect_window_seconds
        )
        self._xids = XidWatch()
        self._origins: dict[str, _Origin] = {}

    def clean(self, page: RawPage) -> CleanPage:
        """The page in canonical terms."""
        return self._clean(page)[0]

    def explain(self, page: RawPage) -> tuple[CleanPage, tuple[CleanSample, ...]]:
        """The page in canonical terms, and every quantity that it was made of."""
        clean, plan, read = self._clean(page)
        computed = computed_samples(clean.tables, self._catalogue)
        return clean, (*read_samples(plan, read), *computed)

    def silent(self, origin: str, now_seconds: float) -> tuple[NodeFact, ...]:
        """The origin gave nothing; the facts that follow when that has lasted."""
        known = self._origins.get(origin)
        if known is None:
            return ()
        return tuple(known.presence.silent(now_seconds, self._settings.blind_after_seconds))

    def forget(self, origin: str) -> None:
        """The origin will not be asked again."""
        self._origins.pop(origin, None)

    def _clean(self, page: RawPage) -> tuple[CleanPage, PagePlan, PageRead]:
        origin = self._origins.get(page.origin)
        if origin is None:
            origin = _Origin(page.origin, self._settings.counter_gap_seconds)
            self._origins[page.origin] = origin
        spread = whole(page) if page.is_whole else origin.parts.spread(page)
        plan = self._plan(origin, page, spread)
        facts = _presence_facts(origin, plan, page)
        origin.plan = plan
        rejected = _unused(plan, spread)
        for reason, count in page.unreadable.items():
            rejected[reason, ""] += count
        read = self._read(plan, spread, page.taken_seconds, rejected)
        facts += self._xids.facts(
            plan.xids, read.raw, page.taken_seconds, plan.uuids, page.is_whole
        )
        cells = fill_cells(plan.cells, read.rates, read.unready)
        reject_impossible(plan.cells, cells, rejected)
        clean = CleanPage(
            origin=page.origin,
            second=math.floor(page.taken_seconds),
            tables=tables_of(plan.cells, cells),
            labels=plan.labels,
            facts=tuple(facts),
            rejected=dict(rejected),
            uncatalogued=plan.uncatalogued,
        )
        return clean, plan, read

    def _plan(self, origin: _Origin, page: RawPage, spread: SpreadPage) -> PagePlan:
        """The plan of a page; the one before, when its series are the same."""
        before = origin.plan
        is_same_node = origin.default_node == page.default_node
        # Series are equal only to themselves, so comparing two lists compares addresses.
        if before is not None and is_same_node and before.series == spread.series:
            return before
        origin.default_node = page.default_node
        node = named_by_page(spread.series, page.default_node)
        is_same_node = is_same_node and node == origin.named_node
        origin.named_node = node
        known = before.resolved if before is not None and is_same_node else {}
        resolved = self._resolve(spread.series, node, known)
        rows = rows_of(
            [one if one.fate is Fate.KEPT else None for one in resolved],
            resolved,
            spread.values.tolist(),
            self._indices,
        )
        gap_seconds = self._settings.counter_gap_seconds
        plan = page_plan(
            spread.series, resolved, rows, self._catalogue, self._ownership, gap_seconds
        )
        if before is not None:
            before.readings.remember_in(origin.counters)
        origin.counters.forget_before(page.taken_seconds)
        plan.readings.continue_from(origin.counters)
        return plan

    def _resolve(
        self,
        series: Sequence[Series],
        default_node: NodeName | None,
        known: Mapping[Series, Resolved],
    ) -> list[Resolved]:
        resolve = self._resolver.resolve
        return [known.get(one) or resolve(one, default_node) for one in series]

    def _read(
        self, plan: PagePlan, spread: SpreadPage, now_seconds: float, rejected: Rejected
    ) -> PageRead:
        judged = judge(spread.values, spread.is_there, plan.values, self._units)
        count_reasons(judged, plan.values, rejected)
        raw, winners = _first_valid(plan, judged)
        self._leave_out_second_names(plan, raw, now_seconds, rejected)
        return PageRead(raw, *_with_rates(plan, raw, now_seconds, rejected), winners)

    def _leave_out_second_names(
        self, plan: PagePlan, raw: Floats, now_seconds: float, rejected: Rejected
    ) -> None:
        lanes = plan.lanes
        owned = raw[: lanes.owned]
        is_valid = ~np.isnan(owned)
        admitted = self._ownership.admit(lanes.cells, lanes.groups, is_valid, now_seconds)
        for at in np.flatnonzero(is_valid & ~admitted):
            rejected["other_dialect", lanes.lanes[at].metric] += 1
        owned[~admitted] = np.nan


def _presence_facts(origin: _Origin, plan: PagePlan, page: RawPage) -> list[NodeFact]:
    facts: list[NodeFact] = []
    if plan is not origin.plan or origin.presence.is_blind:
        if page.is_whole:
            facts = origin.presence.whole_page(plan.gpus, page.taken_seconds)
        else:
            nodes = {plan.resolved[one].node for one in page.series}
            gpus = {node: gpus for node, gpus in plan.gpus.items() if node in nodes}
            facts = origin.presence.part(gpus, page.taken_seconds)
    origin.presence.page(page.taken_seconds)
    return facts


def _unused(plan: PagePlan, spread: SpreadPage) -> Rejected:
    """What is left out of the page whatever its values."""
    is_there = spread.is_there
    return Counter(why for at, why in plan.unused.items() if is_there is None or is_there[at])


def _first_valid(plan: PagePlan, judged: Judged) -> tuple[Floats, Indices]:
    """One value a lane: that of its first series that is valid."""
    count = len(plan.lanes.lanes)
    values = np.full(count, np.nan)
    winners = np.full(count, -1, np.intp)
    # Backwards: of several values for one lane the last written stays.
    valid = np.flatnonzero(judged.reasons == Reason.NONE)[::-1]
    lanes = plan.lanes.of_series[valid]
    values[lanes] = judged.values[valid]
    winners[lanes] = plan.values.take[valid]
    return values, winners


def _with_rates(
    plan: PagePlan, raw: Floats, now_seconds: float, rejected: Rejected
) -> tuple[Floats, Booleans]:
    """Lane values with rates in place of counters, and which counters have no rate yet."""
    lanes = plan.lanes
    values = raw.copy()
    unready = np.zeros(len(raw), np.bool_)
    if not len(lanes.counters):
        return values, unready
    rates = plan.readings.rates(raw[lanes.counters], now_seconds)
    with np.errstate(invalid="ignore"):
        impossible = (rates.values < lanes.rate_low) | (rates.values > lanes.rate_high)
    rates.values[impossible] = np.nan
    for reason, which in (("counter_reset", rates.restarted), ("out_of_range", impossible)):
        for at in np.flatnonzero(which):
            rejected[reason, lanes.lanes[lanes.counters[at]].metric] += 1
    unready[lanes.counters] = np.isnan(rates.values) & ~np.isnan(raw[lanes.counters])
    values[lanes.counters] = rates.values
    return values, unready
