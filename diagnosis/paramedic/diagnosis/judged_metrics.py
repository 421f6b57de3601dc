"""Which telemetry of GPUs and nodes can be compared among peers."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from paramedic.ingest.catalogue.catalogue import shipped_catalogue
from paramedic.ingest.catalogue.metric import Kind

if TYPE_CHECKING:
    from paramedic.ingest.contract import Window

_UNTELLING = frozenset({"filesystem_used_ratio", "load_average", "process_stopped"})
"""How full a disk is says nothing of how a machine works, and a mean over minutes nothing of now:
it goes on when what it is about is long over."""


def peers_part(window: Window) -> Window:
    """The newest slot of the window, with those metrics alone that have an ordinary scale.

    Codes, flags and running totals are no amounts; a metric nobody knows is one.
    """
    kept = _kept(window.metrics)
    everything = len(kept) == len(window.metrics)
    lines = slice(None) if everything else list(kept)
    return replace(
        window,
        first_second=window.last_second,
        metrics=window.metrics if everything else tuple(window.metrics[at] for at in kept),
        values=window.values[:, lines, -1:],
        observed=window.observed[:, lines, -1:],
    )


@lru_cache(maxsize=64)
def _kept(metrics: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(at for at, metric in enumerate(metrics) if _is_amount(metric))


def _is_amount(metric: str) -> bool:
    known = shipped_catalogue().metrics.get(metric)
    is_code = known is not None and known.kind is Kind.STATE
    return not (is_code or metric.endswith("_total") or metric in _UNTELLING)
