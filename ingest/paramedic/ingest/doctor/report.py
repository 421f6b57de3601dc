"""From an examination to a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.ingest.doctor.checks import Report, counted
from paramedic.ingest.doctor.judging.arrivals import (
    check_arrivals,
    check_reading,
    exporters_seen,
)
from paramedic.ingest.doctor.judging.cadence import check_cadence, slowest_cadence
from paramedic.ingest.doctor.judging.jobs import check_jobs
from paramedic.ingest.doctor.judging.leftovers import check_leftovers
from paramedic.ingest.doctor.judging.machines import check_clocks, check_machines
from paramedic.ingest.doctor.judging.metrics import check_metrics
from paramedic.ingest.doctor.promise import detection_seconds

if TYPE_CHECKING:
    from paramedic.ingest.doctor.examination import Examination


def report_of(
    seen: Examination, looked_seconds: float | None, behind_seconds: float = 0.0
) -> Report:
    """Everything that follows; None where there was nothing to wait for, as in a file.

    `behind_seconds` is how far what was read is behind now.
    """
    checks = [*check_arrivals(seen), *check_reading(behind_seconds)]
    if seen.pages:
        checks += check_machines(seen)
        checks += check_cadence(seen)
        checks += check_metrics(seen)
        checks += check_jobs(seen)
        checks += check_clocks(seen)
        checks += check_leftovers(seen)
    return Report(_facts(seen, looked_seconds), _seen(seen), tuple(checks))


def _facts(seen: Examination, looked_seconds: float | None) -> dict[str, object]:
    cadence = slowest_cadence(seen)
    gpus = seen.coverage.gpus_of()
    return {
        "looked_seconds": None if looked_seconds is None else round(looked_seconds, 1),
        "exporters": sorted({str(one) for one in exporters_seen(seen)}),
        "hosts": len(seen.coverage.hosts | gpus.keys()),
        "gpus": sum(gpus.values()),
        "pages": seen.pages,
        "samples": seen.samples,
        "cadence_seconds": cadence,
        "detection_seconds": None if cadence is None else detection_seconds(cadence),
        "silent": sorted(seen.silent),
        "jobs": dict(seen.jobs.attribution().jobs),
        "clock_offsets_seconds": {
            node: round(offset, 2) for node, offset in sorted(seen.clocks.offsets().items())
        },
        "rejected": _rejected(seen),
        "uncatalogued": sorted(seen.uncatalogued),
    }


def _rejected(seen: Examination) -> dict[str, int]:
    counts: dict[str, int] = {}
    for (reason, _), count in sorted(seen.rejected.items()):
        counts[reason] = counts.get(reason, 0) + count
    return counts


def _seen(seen: Examination) -> str:
    gpus = seen.coverage.gpus_of()
    hosts = len(seen.coverage.hosts | gpus.keys())
    what = f"{counted(hosts, 'host')}, {counted(sum(gpus.values()), 'GPU')}"
    return f"{what}, {counted(seen.samples, 'sample')} in {counted(seen.pages, 'page')}"
