"""Pages for the cleaner's tests, and short ways to look at what comes out."""

from __future__ import annotations

from collections.abc import Mapping

from paramedic.ingest.cleaning.cleaner import TelemetryCleaner
from paramedic.ingest.cleaning.port import CleanPage
from paramedic.ingest.contract import Entity, NodeName
from paramedic.ingest.exposition.parser import ExpositionParser
from paramedic.ingest.sources.port import RawPage


class Exporter:
    """One origin: a cleaner (its own or a shared one) behind a parser."""

    def __init__(
        self,
        origin: str = "http://n1:9400",
        node: str | None = "n1",
        cleaner: TelemetryCleaner | None = None,
    ) -> None:
        self.cleaner = cleaner or TelemetryCleaner()
        self.origin = origin
        self._parser = ExpositionParser(origin, None if node is None else NodeName(node))

    def read(self, text: str, taken_seconds: float = 1000.0) -> RawPage:
        return self._parser.parse(text, taken_seconds)

    def says(self, text: str, taken_seconds: float = 1000.0) -> CleanPage:
        return self.cleaner.clean(self.read(text, taken_seconds))


def cleaned(text: str) -> CleanPage:
    """One page of an exporter that nobody has seen before."""
    return Exporter().says(text)


def gpu(metric: str, index: int, value: object, **more: str) -> str:
    """A line of dcgm-exporter."""
    labels = {"gpu": str(index), "UUID": f"GPU-{index}", **more}
    said = ",".join(f'{label}="{text}"' for label, text in labels.items())
    return f"{metric}{{{said}}} {value}\n"


def column(page: CleanPage, metric: str) -> dict[tuple[str, int | None], float]:
    """The values of a metric by row; rows without one are left out."""
    found: dict[tuple[str, int | None], float] = {}
    for table in page.tables:
        for row, value in enumerate(table.columns.get(metric, ())):
            index = None if table.indices is None else table.indices[row]
            assert (table.entity is Entity.NODE) == (index is None)
            if value == value:
                found[table.nodes[row], index] = value
    return found


def only(page: CleanPage, metric: str) -> float | None:
    """The metric's only value; None when it has none."""
    values = list(column(page, metric).values())
    assert len(values) <= 1, values
    return values[0] if values else None


def facts(page: CleanPage) -> list[Mapping[str, object]]:
    """Kind, GPU and details of the page's facts."""
    return [{"kind": fact.kind.value, "gpu": fact.gpu} | dict(fact.details) for fact in page.facts]
