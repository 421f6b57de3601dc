"""How far the clocks of the hosts are apart, as node_exporter tells the time.

Prometheus stamps a sample with its own clock, so `node_time_seconds` less the stamp is how far the
host is ahead of it; what the hosts have in common cancels out against their median.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING

from paramedic.ingest.contract import NodeName

if TYPE_CHECKING:
    from paramedic.ingest.cleaning.port import CleanPage
    from paramedic.ingest.sources.port import RawPage, Series

HOST_TIME = "node_time_seconds"
TOLERANCE_SECONDS = 2.0
"""Stamps may be cut to whole seconds, and a page takes a moment to be written."""
_KEPT = 9


class HostClocks:
    """What the hosts say of the time."""

    def __init__(self) -> None:
        self._places: dict[str, tuple[Sequence[Series], int | None]] = {}
        self._ahead: dict[NodeName, deque[float]] = {}

    def page(self, raw: RawPage, clean: CleanPage) -> None:
        """Take a page in; one that speaks of several hosts says nothing of the time of each."""
        place = self._place(raw)
        hosts = {node for table in clean.tables for node in table.nodes}
        if place is not None and len(hosts) == 1:
            ahead = raw.values[place] - raw.taken_seconds
            self._ahead.setdefault(hosts.pop(), deque(maxlen=_KEPT)).append(ahead)

    def offsets(self) -> dict[NodeName, float]:
        """How far each host is ahead of the median of all (seconds)."""
        of_host = {node: median(ahead) for node, ahead in self._ahead.items()}
        if not of_host:
            return {}
        all_of_them = median(of_host.values())
        return {node: ahead - all_of_them for node, ahead in of_host.items()}

    def _place(self, raw: RawPage) -> int | None:
        series, place = self._places.get(raw.origin, ((), None))
        if series != raw.series:
            names = [one.name for one in raw.series]
            place = names.index(HOST_TIME) if HOST_TIME in names else None
            self._places[raw.origin] = (raw.series, place)
        return place
