"""What was left out and why, and names that nobody knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.ingest.doctor.checks import Check, Level, Remedy, counted, named

if TYPE_CHECKING:
    from paramedic.ingest.doctor.examination import Examination

_HARMLESS = {
    "blank_sentinel": "DCGM's way of saying that a GPU does not offer it",
    "not_available": "nvidia-smi's way of saying that a GPU does not offer it",
    "duplicate": "a GPU shared by two jobs, or slices of one",
    "out_of_range": "what no such device can show; a glitch when it is rare",
    "counter_reset": "a counter that began anew",
    "not_a_number": "a value that is none",
    "infinite": "a value that is none",
}
_AT_ANY_RATE = ("blank_sentinel", "not_available", "duplicate")
_REMEDIES = {
    "no_node": Remedy("the scrape job", ("relabel_configs:",
        "  - {source_labels: [__address__], regex: '(.*):.*', target_label: node}")),
    "no_gpu": Remedy("the scrape job", ("honor_labels: true",)),
    "other_dialect": Remedy("Prometheus", ("scrape one of the two exporters of these GPUs",)),
    "unit_undecided": Remedy("dcgm-exporter", ("upgrade to 4.9.0 or newer, or keep 4.8.4",)),
}  # fmt: skip
_SHARE = 0.01
_SUBJECT, _NAMES = "left out", "unknown names"


def check_leftovers(seen: Examination) -> Iterator[Check]:
    """One line a reason, then the names."""
    reasons: Counter[str] = Counter()
    for (reason, _), count in seen.rejected.items():
        reasons[reason] += count
    if not reasons and seen.pages:
        yield Check(_SUBJECT, Level.OK, f"nothing of {counted(seen.samples, 'sample')}")
    for reason, count in sorted(reasons.items()):
        yield _reason(seen, reason, count)
    of_gpus = {name for name in seen.uncatalogued if name.lower() in _columns(seen)}
    if of_gpus:
        yield Check(_NAMES, Level.OK, f"{named(of_gpus)}: kept, and compared among the GPUs as they"
                    " are")  # fmt: skip


def _reason(seen: Examination, reason: str, count: int) -> Check:
    metrics = named({metric for why, metric in seen.rejected if why == reason and metric})
    text = f"{counted(count, 'sample')} as {reason}" + (f" ({metrics})" if metrics else "")
    meaning = _HARMLESS.get(reason)
    is_rare = count <= _SHARE * seen.samples
    if meaning is not None and (is_rare or reason in _AT_ANY_RATE):
        return Check(_SUBJECT, Level.OK, f"{text}: {meaning}")
    remedy = _REMEDIES.get(reason)
    return Check(_SUBJECT, Level.WARNING, text, () if remedy is None else (remedy,))


def _columns(seen: Examination) -> set[str]:
    return seen.coverage.columns_of_gpus()
