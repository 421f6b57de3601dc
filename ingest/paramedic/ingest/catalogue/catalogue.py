"""The catalogue that ships with Paramedic, ready to be asked."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files

from paramedic.ingest.catalogue.metric import Exported, Kind, Metric, Over
from paramedic.ingest.catalogue.reading import ReadCatalogue, read_catalogue
from paramedic.ingest.contract import Entity

# AMD's exporter prints its names with this in front when it is told to.
_AMD = "amd"
_AMD_PREFIX = "amd_"
_OWN_GROUP = 1_000_000


class Catalogue:
    """Knows every canonical id and every exporter's name."""

    def __init__(self, read: ReadCatalogue) -> None:
        self.metrics: Mapping[str, Metric] = {metric.id: metric for metric in read.metrics}
        """By canonical id, in the file's order."""
        self.exported: Mapping[str, Exported] = {one.name: one for one in read.exported}
        """By the exporter's name, in the file's order."""
        self._ignored = read.ignored
        self._own = {metric.id: _own_name(metric) for metric in read.metrics if _is_plain(metric)}

    def find(self, name: str) -> Exported | None:
        """What an exporter's name stands for; None when the catalogue does not know it."""
        found = self.exported.get(name)
        if found is None and name.startswith(_AMD_PREFIX):
            found = self.exported.get(name.removeprefix(_AMD_PREFIX))
            if found is not None and found.dialect != _AMD:
                return None
        return found or self._own.get(name)

    def is_ignored(self, name: str) -> bool:
        """Whether a name is known to be no telemetry: a description, a setting."""
        return any(fnmatchcase(name, pattern) for pattern in self._ignored)

    def ids(self, entity: Entity) -> tuple[str, ...]:
        """The canonical ids of one entity that are handed on, in the file's order."""
        return tuple(
            metric.id
            for metric in self.metrics.values()
            if metric.entity is entity and not metric.is_input
        )

    def names(self, metric: str, dialect: str) -> tuple[Exported, ...]:
        """What one dialect calls a metric, the preferred name first."""
        return tuple(
            one
            for one in self.exported.values()
            if one.metric.id == metric and one.dialect == dialect
        )


def _is_plain(metric: Metric) -> bool:
    return metric.entity is Entity.GPU and not metric.is_input


def _own_name(metric: Metric) -> Exported:
    """A metric under its own canonical id, as other tools of the same naming habit print it."""
    return Exported(
        name=metric.id,
        metric=metric,
        dialect="canonical",
        factor=1.0,
        kind=Kind.GAUGE,
        over=Over.FIRST,
        per=(),
        only={},
        drop={},
        before=None,
        group=_OWN_GROUP,
        rank=_OWN_GROUP,
    )


@cache
def shipped_catalogue() -> Catalogue:
    """The catalogue of this release; read once."""
    text = files("paramedic.ingest.catalogue").joinpath("metrics.toml").read_text("utf-8")
    return Catalogue(read_catalogue(text))
