"""Rows of dcgm-exporter's counters file, and the arguments of node_exporter, for what is missing.

One name that a release does not know, and dcgm-exporter serves nothing at all: names that not
every release has are told apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.ingest.catalogue.metric import Kind

if TYPE_CHECKING:
    from paramedic.ingest.catalogue.catalogue import Catalogue
    from paramedic.ingest.catalogue.metric import Exported
    from paramedic.ingest.doctor.needs import Need

CLASSIC = "dcgm"
NEWEST = "dcgm_4_9"
_OLDER = {NEWEST: CLASSIC, "dcgm_1": CLASSIC}
_NOT_EVERYWHERE = {
    CLASSIC: {
        "DCGM_EXP_XID_ERRORS_TOTAL": "since 4.8.3",
        "DCGM_FI_DEV_GPU_RECOVERY_ACTION": "DCGM 4, and not in every exporter's list of names",
    },
    NEWEST: {
        "DCGM_FI_DEV_FB_USED_BYTES": "announced for 4.9, not seen on a live exporter",
        "DCGM_FI_DEV_GPU_RECOVERY_ACTION": "DCGM 4, and not in every exporter's list of names",
    },
}


def doubt(field: str, dialect: str) -> str | None:
    """Why a name is to be tried on one host first; None where every release has it."""
    return _NOT_EVERYWHERE.get(dialect, {}).get(field)


def fields_of(need: Need, dialect: str, catalogue: Catalogue) -> tuple[Exported, ...]:
    """What to ask dcgm-exporter for, of each metric the preferred name, or those that add up."""
    found: list[Exported] = []
    for metric in need.metrics:
        names = catalogue.names(metric, dialect)
        if not names and dialect in _OLDER:
            names = catalogue.names(metric, _OLDER[dialect])
        found += [name for name in names if name.group == names[0].group]
    return tuple(found)


def row(need: Need, field: Exported) -> str:
    """One row: name, type, help.

    Xid counts are gauges over a window, whatever their name says.
    """
    kind = "counter" if field.kind is Kind.COUNTER else "gauge"
    return f"{field.name}, {kind}, {need.name[:1].upper()}{need.name[1:]}."


def paste(need: Need, dialect: str, catalogue: Catalogue) -> tuple[str, ...]:
    """The rows that would give what is needed: those of the first metric that the exporter has."""
    fields = fields_of(need, dialect, catalogue)
    first = [field for field in fields if field.metric.id == fields[0].metric.id]
    return tuple(row(need, field) for field in first)
