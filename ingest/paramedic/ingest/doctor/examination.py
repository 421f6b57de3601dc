"""Everything that is looked at while pages come; what it means is judged afterwards."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from paramedic.ingest.collect.inbox import Silence
from paramedic.ingest.doctor.attribution import JobLabels
from paramedic.ingest.doctor.clocks import HostClocks
from paramedic.ingest.doctor.coverage import Coverage
from paramedic.ingest.doctor.exporters import Speaker, speakers_of
from paramedic.ingest.doctor.rhythm import Rhythms
from paramedic.ingest.sources.port import NodeFact, RawPage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paramedic.ingest.catalogue.catalogue import Catalogue
    from paramedic.ingest.cleaning.port import Cleaner, CleanPage
    from paramedic.ingest.collect.configuration import LabelSettings, TenancySettings
    from paramedic.ingest.collect.inbox import Item
    from paramedic.ingest.sources.port import Series


class Examination:
    """For one thread. Times are Unix seconds."""

    def __init__(
        self,
        cleaner: Cleaner,
        catalogue: Catalogue,
        labels: LabelSettings,
        tenancy: TenancySettings,
    ) -> None:
        self.catalogue = catalogue
        self._cleaner = cleaner
        self._series: dict[str, Sequence[Series]] = {}
        self.speakers: dict[str, tuple[Speaker, ...]] = {}
        """Which exporters speak at each origin."""
        self.coverage = Coverage(catalogue)
        self.rhythms = Rhythms()
        self.clocks = HostClocks()
        self.jobs = JobLabels(labels, tenancy)
        self.rejected: Counter[tuple[str, str]] = Counter()
        """Samples left out, by reason and metric."""
        self.uncatalogued: set[str] = set()
        self.silent: dict[str, Silence] = {}
        """Origins that give nothing now."""
        self.pages = 0
        self.samples = 0
        self.facts = 0
        self.newest_seconds: float | None = None
        """The newest page of all."""

    def take(self, item: Item) -> None:
        """Take in whatever a source gave."""
        if isinstance(item, RawPage):
            self._page(item)
        elif isinstance(item, NodeFact):
            self.facts += 1
        else:
            self.silent[item.origin] = item

    def _page(self, raw: RawPage) -> None:
        self.pages += 1
        self.samples += len(raw.values)
        self.newest_seconds = max(raw.taken_seconds, self.newest_seconds or raw.taken_seconds)
        # The origin of a target ends with the address of the Prometheus that has scraped it.
        for origin in [one for one in self.silent if raw.origin.endswith(one)]:
            del self.silent[origin]
        clean = self._cleaner.clean(raw)
        self._hear(raw)
        self._leave_out(clean)
        self.coverage.page(raw, clean)
        self.rhythms.page(clean)
        self.clocks.page(raw, clean)
        self.jobs.page(clean)

    def _hear(self, raw: RawPage) -> None:
        if self._series.get(raw.origin) != raw.series:
            self._series[raw.origin] = raw.series
            self.speakers[raw.origin] = speakers_of(raw.series, self.catalogue)

    def _leave_out(self, clean: CleanPage) -> None:
        self.facts += len(clean.facts)
        self.rejected.update(clean.rejected)
        self.uncatalogued.update(clean.uncatalogued)
