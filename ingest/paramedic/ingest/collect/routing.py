"""From a clean page to what is published of it: rows by job, shard and slot, and events."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paramedic.ingest.collect.cadence import slot_of
from paramedic.ingest.collect.lives import Lives, event_of
from paramedic.ingest.collect.repeats import Repeats
from paramedic.ingest.collect.sharing import Division, Shard, Share, divide, taken, without
from paramedic.ingest.collect.tenancy import Tenancy
from paramedic.ingest.collect.usage import gpus_in_use
from paramedic.ingest.contract import Entity, Event, JobName, NodeName, Table

if TYPE_CHECKING:
    from paramedic.ingest.cleaning.port import CleanPage
    from paramedic.ingest.collect.configuration import CollectConfig
    from paramedic.ingest.sources.port import NodeFact

_EXPIRY_SECONDS = 10
_FACTS_KEPT = 1000
_FACT_PATIENCE_SECONDS = 60
_NOBODY: frozenset[NodeName] = frozenset()


@dataclass(frozen=True, slots=True)
class Routed:
    """Rows with the shard and slot under which they are published."""

    shard: Shard
    slot: int
    table: Table


@dataclass(slots=True)
class Leftovers:
    """Rows and facts that are not published, counted by reason."""

    rows: Counter[str] = field(default_factory=Counter)
    """`no_job`, `repeat`, `measuring` (the cadence is not known yet), `faster_than_grid`."""
    facts: Counter[str] = field(default_factory=Counter)
    """`no_job`."""


class Router:
    """Knows jobs and members by what the pages say; for one thread."""

    def __init__(self, config: CollectConfig) -> None:
        self.tenancy = Tenancy(config.labels, config.tenancy)
        self._repeats = Repeats(config.repeat_limit_seconds)
        self.lives = Lives(self.tenancy, self._repeats)
        self.leftovers = Leftovers()
        self._divisions: dict[tuple[str, int], Division] = {}
        self._slots: dict[tuple[str, JobName, Entity, NodeName], int] = {}
        """The newest slot that was given of a node, where a job's grid is wider than a second."""
        self._facts: deque[NodeFact] = deque()
        """Facts of nodes that have no job yet."""
        self._facts_tried_at = 0
        self._jobless: set[NodeName] = set()
        self._frontier = 0
        self._expired_at = 0

    def route(self, page: CleanPage) -> tuple[list[Event], list[Routed]]:
        """What a page says, as events and as rows of jobs."""
        repeats = self._observe(page)
        events = [*self._follow(page.second), *self._attribute(page.facts, page.origin)]
        routed = [
            one
            for number, table in enumerate(page.tables)
            for one in self._rows(page, number, table, repeats)
        ]
        return events, routed

    def facts(self, facts: Iterable[NodeFact]) -> list[Event]:
        """Facts that came beside the pages, as events of the jobs they concern."""
        return list(self._attribute(facts))

    @property
    def frontier(self) -> int:
        """The newest second that any page spoke of (Unix seconds)."""
        return self._frontier

    @property
    def strangers(self) -> tuple[NodeName, ...]:
        """Nodes whose host telemetry is there, and of which no GPU is known; sorted by name."""
        return tuple(sorted(one for one in self._jobless if not self.tenancy.is_host(one)))

    def _observe(self, page: CleanPage) -> frozenset[NodeName]:
        repeated = _NOBODY
        for table in page.tables:
            if table.entity is Entity.GPU:
                in_use = gpus_in_use(table, self.tenancy.settings)
                self.tenancy.observe(page.second, table, page.labels, in_use, page.origin)
                repeated |= self._repeats.repeated(page.origin, page.second, table)
        return repeated

    def _follow(self, second: int) -> Iterator[Event]:
        is_news = second > self._frontier
        self._frontier = max(self._frontier, second)
        if self._frontier - self._expired_at >= _EXPIRY_SECONDS:
            self._expired_at = self._frontier
            self._forget(self.tenancy.expire(self._frontier))
        yield from self.lives.follow(self.tenancy.take_moves(), self._frontier)
        if is_news:
            yield from self.lives.pass_time(self._frontier)

    def _forget(self, gone: Sequence[NodeName]) -> None:
        if not gone:
            return
        for node in gone:
            self._repeats.forget(node)
        self._jobless.difference_update(gone)
        self._divisions.clear()
        self._slots = {key: slot for key, slot in self._slots.items() if key[-1] not in gone}

    def _rows(
        self, page: CleanPage, number: int, table: Table, repeated: frozenset[NodeName]
    ) -> Iterator[Routed]:
        left_out = repeated if table.entity is Entity.GPU else _NOBODY
        for share in self._division(page.origin, number, table).shares:
            sampling_seconds = self.lives.sampling_seconds(share.shard.job)
            if sampling_seconds is None:
                self.leftovers.rows["measuring"] += len(share.rows)
                continue
            slot = slot_of(page.second, sampling_seconds)
            chosen = self._fresh(share, left_out)
            if sampling_seconds > 1:
                chosen = self._first_of_slot(page.origin, table.entity, chosen, slot)
            if chosen.rows:
                yield Routed(share.shard, slot, taken(table, chosen))

    def _division(self, origin: str, number: int, table: Table) -> Division:
        known = self._divisions.get((origin, number))
        if known is None or not known.holds_for(table, self.tenancy.version):
            known = self._divisions[origin, number] = divide(table, self.tenancy, origin)
            if table.entity is Entity.NODE:
                self._jobless -= set(table.nodes)
                self._jobless |= {node for node in table.nodes if not self.tenancy.jobs_of(node)}
        self.leftovers.rows["no_job"] += known.ownerless
        return known

    def _fresh(self, share: Share, repeated: frozenset[NodeName]) -> Share:
        if not repeated:
            return share
        fresh = without(share, repeated)
        self.leftovers.rows["repeat"] += len(share.rows) - len(fresh.rows)
        return fresh

    def _first_of_slot(self, origin: str, entity: Entity, share: Share, slot: int) -> Share:
        """One sample a slot is enough: the first, because it is there the soonest."""
        job = share.shard.job
        given = frozenset(
            node
            for node in set(share.nodes)
            if self._slots.get((origin, job, entity, node)) == slot
        )
        for node in set(share.nodes) - given:
            self._slots[origin, job, entity, node] = slot
        first = without(share, given) if given else share
        self.leftovers.rows["faster_than_grid"] += len(share.rows) - len(first.rows)
        return first

    def _attribute(self, facts: Iterable[NodeFact], origin: str = "") -> Iterator[Event]:
        """Events of the facts. Those of a node without a job wait for one for a while."""
        fresh = list(facts)
        if self._facts and self._frontier > self._facts_tried_at:
            self._facts_tried_at = self._frontier
            fresh, self._facts = [*self._facts, *fresh], deque()
        for fact in fresh:
            jobs = self._jobs(fact, origin)
            for job in jobs:
                yield event_of(
                    job, fact.kind, fact.timestamp_seconds, fact.details, fact.node, fact.gpu
                )
            if not jobs:
                self._keep(fact)

    def _jobs(self, fact: NodeFact, origin: str) -> tuple[JobName, ...]:
        of_gpu = None if fact.gpu is None else self.tenancy.job_of(fact.node, fact.gpu, origin)
        jobs = self.tenancy.jobs_of(fact.node) if of_gpu is None else (of_gpu,)
        return tuple(job for job in jobs if job in self.lives.announced)

    def _keep(self, fact: NodeFact) -> None:
        is_old = self._frontier - fact.timestamp_seconds > _FACT_PATIENCE_SECONDS
        if is_old or len(self._facts) >= _FACTS_KEPT:
            self.leftovers.facts["no_job"] += 1
        else:
            self._facts.append(fact)
