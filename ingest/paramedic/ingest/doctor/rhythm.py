"""How often pages come, and how often they say something new."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from paramedic.ingest.collect.repeats import Repeats
from paramedic.ingest.contract import Entity, NodeName

if TYPE_CHECKING:
    from paramedic.ingest.cleaning.port import CleanPage

_REPEAT_LIMIT_SECONDS = 90.0
_KEPT = 150
_WORTH_MENTION = 0.1


@dataclass(slots=True)
class Rhythm:
    """One node's pages at one origin, in Unix seconds."""

    origin: str
    node: NodeName
    has_gpus: bool
    pages: int = 0
    repeats: int = 0
    page_seconds: deque[int] = field(default_factory=lambda: deque(maxlen=_KEPT))
    news_seconds: deque[int] = field(default_factory=lambda: deque(maxlen=_KEPT))

    def beat(self, second: int, *, is_repeat: bool) -> None:
        """A page has come."""
        self.pages += 1
        self.repeats += is_repeat
        self.page_seconds.append(second)
        if not is_repeat:
            self.news_seconds.append(second)

    @property
    def page_interval(self) -> float | None:
        """The usual time between two pages (seconds); None with fewer than two."""
        return _interval(self.page_seconds)

    @property
    def news_interval(self) -> float | None:
        """The usual time between two pages that say something new."""
        return _interval(self.news_seconds)

    @property
    def watched_seconds(self) -> int:
        """From the first page that is kept to the last."""
        return self.page_seconds[-1] - self.page_seconds[0] if self.page_seconds else 0

    @property
    def repeat_share(self) -> float:
        """The share of the pages that say again what was said before."""
        return self.repeats / self.pages if self.pages else 0.0

    @property
    def cadence(self) -> float | None:
        """The interval of the data: of news, else no less than what was watched in vain."""
        if self.news_interval is not None:
            # The last news may be long ago: an exporter that stands still.
            return max(self.news_interval, float(self.page_seconds[-1] - self.news_seconds[-1]))
        return float(self.watched_seconds) if self.pages > 1 else None

    @property
    def is_at_least(self) -> bool:
        """Whether the cadence is only a lower bound."""
        return self.news_interval is None

    @property
    def is_stale(self) -> bool:
        """Whether the exporter collects more rarely than it is asked."""
        return self.repeat_share > _WORTH_MENTION


class Rhythms:
    """The rhythms of all nodes at all origins."""

    def __init__(self) -> None:
        self._repeats = Repeats(_REPEAT_LIMIT_SECONDS)
        self._known: dict[tuple[str, NodeName, bool], Rhythm] = {}

    def page(self, clean: CleanPage) -> None:
        """Take a page in."""
        for table in clean.tables:
            has_gpus = table.entity is Entity.GPU
            repeated = self._repeats.repeated(clean.origin, clean.second, table) if has_gpus else ()
            for node in dict.fromkeys(table.nodes):
                key = (clean.origin, node, has_gpus)
                rhythm = self._known.get(key)
                if rhythm is None:
                    rhythm = self._known[key] = Rhythm(clean.origin, node, has_gpus)
                rhythm.beat(clean.second, is_repeat=node in repeated)

    def of(self, *, gpus: bool) -> list[Rhythm]:
        """Those of GPUs, or those of hosts."""
        return [rhythm for rhythm in self._known.values() if rhythm.has_gpus is gpus]


def middle(values: Sequence[float]) -> float | None:
    """The median; None of nothing."""
    return median(values) if values else None


def _interval(seconds: Sequence[int]) -> float | None:
    gaps = [after - before for before, after in pairwise(seconds) if after > before]
    return median(gaps) if gaps else None
