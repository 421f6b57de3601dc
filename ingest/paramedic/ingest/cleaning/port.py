"""What the cleaner hands on: canonical rows of one second, and facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from paramedic.ingest.contract import NodeName, Table
    from paramedic.ingest.sources.port import NodeFact, RawPage


@dataclass(frozen=True, slots=True)
class CleanPage:
    """A page after cleaning: canonical ids, SI units, counters as rates, rejects left out."""

    origin: str
    second: int
    """Unix second of the page."""
    tables: tuple[Table, ...]
    """Node and GPU rows, sorted by node and index."""
    labels: Mapping[tuple[NodeName, int | None], Mapping[str, str]]
    """The labels of each row as its exporter gave them, for finding the job and the role; the same
    mapping objects as long as they do not change."""
    facts: tuple[NodeFact, ...]
    """Xids, GPUs that vanished or came back, a source that turned blind or sees again."""
    rejected: Mapping[tuple[str, str], int]
    """How many samples were left out, by reason and metric (or the exporter's name for it)."""
    uncatalogued: tuple[str, ...] = ()
    """Exporters' names that the catalogue does not know. Those of a GPU are columns under their
    lower-cased name; the others are only told."""


class Cleaner(Protocol):
    """Cleans the pages of any number of origins; keeps the past that rates and identity need."""

    def clean(self, page: RawPage) -> CleanPage:
        """The page in canonical terms."""
        ...

    def silent(self, origin: str, now_seconds: float) -> tuple[NodeFact, ...]:
        """The origin gave nothing; the facts that follow when that has lasted (a blind source)."""
        ...
