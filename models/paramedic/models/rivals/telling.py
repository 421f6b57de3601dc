"""From being accused, slot after slot, to alarms: a machine that goes on is told once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.models.detection import Alarm

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paramedic.ingest.contract import NodeName

QUIET_SECONDS = 60
"""After so long without being accused, a machine is told again."""


def told_once(
    accusations: Iterable[tuple[int, NodeName, float]], quiet_seconds: int = QUIET_SECONDS
) -> tuple[Alarm, ...]:
    """The alarms of accusations (second, node, score), which come in the order of their seconds."""
    last: dict[NodeName, int] = {}
    alarms: list[Alarm] = []
    for second, node, score in accusations:
        if node not in last or second - last[node] > quiet_seconds:
            alarms.append(Alarm(second, (node,), score))
        last[node] = second
    return tuple(alarms)
