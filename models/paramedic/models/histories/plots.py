"""Plots for people: one machine against its peers, evidence over time, models side by side.

Everything is drawn on axes that are given; needs matplotlib (the extra `notebooks`).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from paramedic.ingest.contract import Entity, NodeName

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from paramedic.ingest.contract import EntityKey
    from paramedic.models.histories.labels import KnownFault
    from paramedic.models.history import JobHistory

_ACCUSED, _PEERS, _FAULT = "tab:red", "tab:blue", "tab:orange"
_MOST_NAMES = 24


def draw_against_peers(
    axes: Axes, history: JobHistory, entity: Entity, metric: str, accused: EntityKey
) -> None:
    """One row in red; of its peers, those with the same role, the median and where 90 % lie.

    Raises ValueError when the row or the metric is not in the history.
    """
    window = history.windows[entity]
    values = window.values[:, window.metrics.index(metric)].astype(np.float64)
    own = window.rows.index(accused)
    stages = _stages(history)
    peers = [
        at
        for at, row in enumerate(window.rows)
        if at != own and stages.get(row.node) == stages.get(accused.node)
    ]
    times = _times(history)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "All-NaN slice")
        low, middle, high = np.nanquantile(values[peers], [0.05, 0.5, 0.95], axis=0)
    axes.fill_between(
        times, low, high, color=_PEERS, alpha=0.2, label=f"90 % of {len(peers)} peers"
    )
    axes.plot(times, middle, color=_PEERS, label="their median")
    axes.plot(times, values[own], color=_ACCUSED, label=name_of(accused))
    axes.set_title(metric)
    axes.set_xlabel("UTC")
    axes.legend(loc="best", fontsize="small")


def draw_evidence(
    axes: Axes, nodes: Sequence[NodeName], seconds: range, evidence: NDArray[np.float64]
) -> None:
    """A row for each machine, darker with more evidence against it; `evidence`: (slot, node)."""
    shown = evidence.T
    image = axes.imshow(
        np.log10(1 + shown), aspect="auto", interpolation="nearest", cmap="Reds",
        extent=(0.0, float(len(seconds) * seconds.step), len(nodes) - 0.5, -0.5),
    )  # fmt: skip
    step = max(1, len(nodes) // _MOST_NAMES)
    axes.set_yticks(range(0, len(nodes), step), [str(node) for node in nodes[::step]])
    axes.set_xlabel("seconds")
    axes.figure.colorbar(image, ax=axes, label="evidence, log10(1 + nats)")


def mark_faults(axes: Axes, history: JobHistory, faults: Sequence[KnownFault]) -> None:
    """Shade the time in which something is known to have been broken, on an axis of times."""
    last = history.seconds[-1]
    for fault in faults:
        end = min(last, last if fault.end is None else fault.end)
        span: Any = (_time(fault.onset), _time(end))
        axes.axvspan(*span, color=_FAULT, alpha=0.15, label=f"known: {fault.kind}")
    if faults:
        axes.legend(loc="best", fontsize="small")


def draw_f1(axes: Axes, rows: Mapping[str, tuple[float, float, float]]) -> None:
    """F1 by name with its interval: (value, low, high)."""
    names = list(rows)
    f1 = np.array([rows[name] for name in names]).reshape(-1, 3)
    errors = np.abs(f1[:, [1, 2]] - f1[:, [0]]).T
    axes.barh(names, f1[:, 0], xerr=errors, color=_PEERS, alpha=0.7, capsize=4)
    axes.set_xlim(0, 1)
    axes.set_xlabel("F1, with its 95 % interval")
    axes.invert_yaxis()


def name_of(row: EntityKey) -> str:
    """A row's name for people.

    >>> from paramedic.ingest.contract import EntityKey
    >>> name_of(EntityKey(Entity.GPU, NodeName("node-7"), 3))
    'node-7, gpu 3'
    """
    return str(row.node) if row.index is None else f"{row.node}, {row.entity} {row.index}"


def _stages(history: JobHistory) -> Mapping[NodeName, int | None]:
    description = history.description
    return {} if description is None else {n.name: n.pipeline_stage for n in description.nodes}


def _times(history: JobHistory) -> Any:
    return np.array(history.seconds, "datetime64[s]")


def _time(second: int) -> Any:
    return np.datetime64(datetime.fromtimestamp(second, UTC).replace(tzinfo=None), "s")
