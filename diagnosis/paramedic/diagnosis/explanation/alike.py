"""Which other nodes show what a node shows: what many show adds nothing against any of them.

How odd a value is, is read from how the rows of the job scatter, so that what befalls a good part
of them (a switch that nobody has declared, several machines at once) soon counts as usual. Here
the nodes are parted by the value itself: some clearly above all the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from paramedic.diagnosis.excuses import Hold
from paramedic.diagnosis.explanation.measures import measure_of
from paramedic.diagnosis.finding import FEWEST_MEMBERS
from paramedic.models.departure.character import About, character_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from numpy.typing import NDArray

    from paramedic.ingest.contract import Entity, NodeName, Window

    Means = NDArray[np.float64]

_OF_TROUBLE = (
    About.CONGESTION, About.DISK, About.LOSSES, About.MEMORY, About.ROUND_TRIP, About.SIGN,
    About.USAGE,
)  # fmt: skip
"""What only rises when something is wrong, whatever work a machine has in the job."""
_SURELY = 3.0
"""Standard errors that the means of those above and of the others are apart, on either side."""
_MOST = 2
"""Metrics that are told."""


class _Nodes(NamedTuple):
    """Of each node, by name: the mean of its row that shows most, and how sure that is."""

    names: tuple[NodeName, ...]
    means: Means
    errors: Means


def shared_by_many(
    node: NodeName, windows: Mapping[Entity, Window], domains: Collection[frozenset[NodeName]] = ()
) -> Iterator[Hold]:
    """What several nodes show as the node does, and the others do not, the clearest first.

    Not where all of them are of one of these domains, whose own evidence it is.
    """
    found = [
        one
        for window in windows.values()
        for metric in window.metrics
        if _tells_of_trouble(metric) and (one := _shared(node, metric, window, domains)) is not None
    ]
    found.sort(key=lambda one: -one[0])
    yield from (hold for _, hold in found[:_MOST])


def _tells_of_trouble(metric: str) -> bool:
    known = character_of(metric)
    return known is not None and known.only_rises and known.about in _OF_TROUBLE


def _shared(
    node: NodeName, metric: str, window: Window, domains: Collection[frozenset[NodeName]]
) -> tuple[float, Hold] | None:
    """How many times as high as the others' it is, and the words."""
    nodes = _nodes(window, metric)
    if node not in nodes.names:
        return None
    own = float(nodes.means[nodes.names.index(node)])
    is_high = nodes.means >= own / 2
    high, low = int(is_high.sum()), int((~is_high).sum())
    if high < FEWEST_MEMBERS or low < high:
        return None
    named = {name for name, one in zip(nodes.names, is_high.tolist(), strict=True) if one}
    if any(named <= nodes_of_one for nodes_of_one in domains):
        return None
    least = float((nodes.means - _SURELY * nodes.errors)[is_high].min())
    most = float((nodes.means + _SURELY * nodes.errors)[~is_high].max())
    if least <= most:
        return None
    others = float(np.median(nodes.means[~is_high]))
    measure = measure_of(metric, own)
    words = (
        f"{measure.name}: {measure.text(own)} against {measure.text(others)}, and {high} of"
        f" {len(nodes.names)} nodes show as much: what so many show is taken for how machines of"
        " this job are, and adds up against none of them alone"
    )
    return own / max(others, 1e-12), Hold(words)


def _nodes(window: Window, metric: str) -> _Nodes:
    """Over all slots of the window; a running total by what it grows by."""
    at = window.metrics.index(metric)
    values = np.where(window.observed[:, at], window.values[:, at].astype(np.float64), np.nan)
    known = character_of(metric)
    if known is not None and known.takes_increments:
        values = np.maximum(np.diff(values, axis=1), 0.0)
    seen = ~np.isnan(values)
    slots = seen.sum(axis=1)
    means = np.where(seen, values, 0.0).sum(axis=1) / np.maximum(slots, 1)
    apart = np.where(seen, values - means[:, None], 0.0)
    errors = np.sqrt(np.square(apart).sum(axis=1)) / np.maximum(slots, 1)
    by_node: dict[NodeName, int] = {}
    for row in np.flatnonzero(slots > 1).tolist():
        name = window.rows[row].node
        if name not in by_node or means[row] > means[by_node[name]]:
            by_node[name] = row
    rows = list(by_node.values())
    return _Nodes(tuple(by_node), means[rows], errors[rows])
