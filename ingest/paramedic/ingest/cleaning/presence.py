"""GPUs that vanish and sources that turn blind: absence is a fact, not a hole.

A card that fell off the bus is simply not on the next page; an exporter that was started before
the driver answers with an empty page and calls itself healthy.
"""

from __future__ import annotations

from collections.abc import Mapping

from paramedic.ingest.contract import Entity, EventKind, NodeName
from paramedic.ingest.sources.port import NodeFact

Gpus = Mapping[int, str | None]
"""Index and UUID of each GPU of a node that is on a page."""


class Presence:
    """What one origin has shown so far."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._known: dict[NodeName, dict[int, str | None]] = {}
        self._lost: dict[NodeName, set[int]] = {}
        self._blind: set[NodeName] = set()
        self._last_page_seconds: float | None = None

    @property
    def is_blind(self) -> bool:
        """Whether a node of this origin is not seen now."""
        return bool(self._blind)

    def page(self, now_seconds: float) -> None:
        """The origin has given a page."""
        self._last_page_seconds = now_seconds

    def whole_page(self, shown: Mapping[NodeName, Gpus], now_seconds: float) -> list[NodeFact]:
        """What follows from a page on which everything would be that there is."""
        facts: list[NodeFact] = []
        for node in sorted(self._known.keys() | shown.keys()):
            known = self._known.setdefault(node, {})
            gpus = shown.get(node, {})
            if known and not gpus:
                facts += self._turn_blind(node, now_seconds)
            elif node in shown:
                facts += self._see(node, known, gpus, now_seconds)
        return facts

    def part(self, shown: Mapping[NodeName, Gpus], now_seconds: float) -> list[NodeFact]:
        """What follows from a part of an answer, on which a missing GPU means nothing."""
        for node, gpus in shown.items():
            self._known.setdefault(node, {}).update(gpus)
        return [fact for node in sorted(shown) for fact in self._see_again(node, now_seconds)]

    def silent(self, now_seconds: float, patience_seconds: float) -> list[NodeFact]:
        """What follows from another answer that did not come."""
        if self._last_page_seconds is None:
            self._last_page_seconds = now_seconds
        if now_seconds - self._last_page_seconds < patience_seconds:
            return []
        return [
            fact for node in sorted(self._known) for fact in self._turn_blind(node, now_seconds)
        ]

    def _see(
        self, node: NodeName, known: dict[int, str | None], gpus: Gpus, now_seconds: float
    ) -> list[NodeFact]:
        facts = self._see_again(node, now_seconds)
        lost = self._lost.setdefault(node, set())
        for index in sorted(known.keys() - gpus.keys() - lost):
            facts.append(_gpu_fact("gpu_lost", node, index, known[index], now_seconds))
        for index in sorted(lost & gpus.keys()):
            facts.append(_gpu_fact("gpu_returned", node, index, gpus[index], now_seconds))
        self._lost[node] = (lost | known.keys()) - gpus.keys()
        known.update(gpus)
        return facts

    def _turn_blind(self, node: NodeName, now_seconds: float) -> list[NodeFact]:
        if node in self._blind:
            return []
        self._blind.add(node)
        return [self._source_fact("source_blind", node, now_seconds)]

    def _see_again(self, node: NodeName, now_seconds: float) -> list[NodeFact]:
        if node not in self._blind:
            return []
        self._blind.remove(node)
        return [self._source_fact("source_back", node, now_seconds)]

    def _source_fact(self, change: str, node: NodeName, now_seconds: float) -> NodeFact:
        entity = Entity.GPU if self._known.get(node) else Entity.NODE
        details = {"change": change, "origin": self._origin, "entity": entity.value}
        return NodeFact(now_seconds, EventKind.TELEMETRY, node, None, details)


def _gpu_fact(
    change: str, node: NodeName, index: int, uuid: str | None, now_seconds: float
) -> NodeFact:
    details = {"change": change} if uuid is None else {"change": change, "uuid": uuid}
    return NodeFact(now_seconds, EventKind.TELEMETRY, node, index, details)
