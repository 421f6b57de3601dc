"""From being accused, slot after slot, to alarms: a machine that goes on is told once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.models.detection import Alarm

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paramedic.ingest.contract import NodeName

QUIET_SECONDS = 60
"""After so long without being accused, a machine is told again."""


class Telling:
    """Who was accused when; accusations come in the order of their seconds."""

    def __init__(self, quiet_seconds: int = QUIET_SECONDS) -> None:
        self._quiet_seconds = quiet_seconds
        self._last: dict[NodeName, int] = {}

    def news(self, second: int, nodes: Iterable[NodeName]) -> list[NodeName]:
        """Those of the accused who have to be told."""
        accused = list(nodes)
        found = [node for node in accused if self._is_news(second, node)]
        self._last.update(dict.fromkeys(accused, second))
        return found

    def _is_news(self, second: int, node: NodeName) -> bool:
        return node not in self._last or second - self._last[node] > self._quiet_seconds


def told_once(
    accusations: Iterable[tuple[int, NodeName, float]], quiet_seconds: int = QUIET_SECONDS
) -> tuple[Alarm, ...]:
    """The alarms of accusations (second, node, score), which come in the order of their seconds."""
    telling = Telling(quiet_seconds)
    return tuple(
        Alarm(second, (node,), score)
        for second, node, score in accusations
        if telling.news(second, (node,))
    )
