"""Reads metrics pages fast: the text of a series that was seen before is looked up, not read.

One parser reads the pages of one exporter. A page whose series did not change gets the very same
list of series objects again, so that whoever cleans it can see that at a glance.
"""

from __future__ import annotations

from collections import Counter

from paramedic.ingest.contract import NodeName
from paramedic.ingest.exposition.sample_line import Unreadable, read_number, read_sample_line
from paramedic.ingest.sources.port import RawPage, Series

# Labels of pods come and go: series that left are forgotten when there are this many more.
_SPARE_SERIES = 4096


class ExpositionParser:
    """Reads the pages of one exporter, in the text format of Prometheus or OpenMetrics.

    Comments, types, help, exemplars and timestamps that can be times are passed over. A line that
    cannot be read is counted by its reason and costs nothing but itself. Not for several threads.
    """

    def __init__(
        self,
        origin: str,
        default_node: NodeName | None = None,
        spare_series: int = _SPARE_SERIES,
    ) -> None:
        self._spare_series = spare_series
        self._origin = origin
        self._default_node = default_node
        self._known: dict[str, Series] = {}
        self._previous: list[Series] = []

    def parse(self, page: str | bytes, taken_seconds: float) -> RawPage:
        """The page as series and values; `taken_seconds` (Unix, UTC) is when it was asked for."""
        text = page.decode("utf-8", "replace") if isinstance(page, bytes) else page
        series: list[Series] = []
        values: list[float] = []
        unreadable: Counter[str] = Counter()
        for line in text.split("\n"):
            if not line or line[0] == "#":
                continue
            key, _, last = line.rpartition(" ")
            known = self._known.get(key)
            if known is not None:
                try:
                    values.append(float(last))
                except ValueError:
                    unreadable["not_a_number"] += 1
                else:
                    series.append(known)
            else:
                read = self._read(line)
                if isinstance(read, tuple):
                    series.append(read[0])
                    values.append(read[1])
                elif read is not None:
                    unreadable[read.value] += 1
        return RawPage(
            origin=self._origin,
            taken_seconds=taken_seconds,
            series=self._same_if_unchanged(series),
            values=values,
            unreadable=dict(unreadable),
            default_node=self._default_node,
        )

    def _read(self, line: str) -> tuple[Series, float] | Unreadable | None:
        """The slow way: a series that is new, or a line with more than a series and a value."""
        if not line.strip() or line.lstrip().startswith("#"):
            return None
        key, *value_and_time = line.rsplit(" ", 2)
        known = self._known.get(key)
        if known is not None and value_and_time:
            value = read_number(" ".join(value_and_time))
            if not isinstance(value, Unreadable):
                return known, value
        sample = read_sample_line(line)
        if isinstance(sample, Unreadable):
            return sample
        known = self._known.get(sample.key)
        if known is None:
            known = self._known[sample.key] = Series(sample.name, sample.labels)
        return known, sample.value

    def _same_if_unchanged(self, series: list[Series]) -> list[Series]:
        # Series are equal only to themselves, so this compares addresses.
        if series == self._previous:
            return self._previous
        if len(self._known) > 2 * len(series) + self._spare_series:
            alive = set(series)
            self._known = {key: one for key, one in self._known.items() if one in alive}
        self._previous = series
        return series
