"""A signature from windows alone: what departed since the onset, without a running detector.

The mean of the newest seconds minus that of before the onset, beside the same of the peers, in
units of the peers' spread or of what a sensor can resolve.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.family.comparing import Compared, means, median, standard_error
from paramedic.diagnosis.family.derived import BEYOND_THREADS, derived
from paramedic.diagnosis.family.hearing import Hearing, has_holes
from paramedic.diagnosis.family.signature import TELLING_REASONS, Departure, Extent, Signature
from paramedic.ingest.contract import Entity, EventKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from paramedic.ingest.contract import Event, NodeName, Window

    Floats = NDArray[np.float64]

_NEW_SECONDS = 30
_PAST_SECONDS = 90
_UNHEARD_SECONDS = 10
_STRONG = 5.0
"""A GPU with such a departure departs."""
_RESOLUTION = {
    BEYOND_THREADS: 1 / 24, "_celsius": 0.6, "_ratio": 0.004, "_total": 0.3, "_seconds": 0.001,
    "gpu_row_remap_pending": 0.1, "gpu_row_remap_failed": 0.1, "gpu_recovery_action": 0.1,
}  # fmt: skip
_RESOLUTION_ELSE = 0.05
_LEVEL_SHARE = 0.008
"""Less than this share of a metric's level is nobody's noise."""
_FEWEST_PEERS = 3
"""Of fewer nobody can tell how much they differ among each other."""
_UNTOLD = frozenset({
    "gpu_xid", "gpu_throttle_reasons", "heartbeat", "step", "loss", "learning_rate",
    "global_batch_size",
})  # fmt: skip
_GROWS_BY = {
    "gpu_ecc_correctable_total": 3.0,
    "gpu_ecc_uncorrectable_total": 1.0,
    "ib_link_downed_total": 1.0,
}


@dataclass(frozen=True, slots=True)
class Stretch:
    """When it began, and what has been seen of it. Unix seconds."""

    onset: int
    until: int
    """The newest second that is looked at."""

    def new(self, window: Window) -> slice:
        """The newest slots, none of before the onset."""
        return _slots(window, max(self.onset, self.until - _NEW_SECONDS + 1), self.until + 1)

    def whole(self, window: Window) -> slice:
        """All slots since the onset."""
        return _slots(window, self.onset, self.until + 1)

    def past(self, window: Window) -> slice:
        """The slots that are compared with."""
        return _slots(window, self.onset - _PAST_SECONDS, self.onset)

    def unheard(self, window: Window) -> slice:
        """The slots in which absence is looked for: who is not heard gives no evidence, which then
        begins after a hole."""
        begin = max(self.onset - _UNHEARD_SECONDS, self.until - _NEW_SECONDS + 1)
        return _slots(window, begin, self.until + 1)

    @property
    def ages(self) -> tuple[int, int]:
        """How many seconds after the onset the newest slots begin and end."""
        return max(0, self.until - _NEW_SECONDS + 1 - self.onset), self.until + 1 - self.onset

    def since(self, window: Window) -> slice:
        """All slots since the last one before the onset."""
        return _slots(window, self.onset - window.slot_seconds, self.until + 1)


def measured(
    windows: Mapping[Entity, Window],
    events: Sequence[Event],
    node: NodeName,
    stretch: Stretch,
    gpu: int | None = None,
) -> Signature:
    """The signature of the node as it shows at the end of the stretch.

    `gpu` is the card that is accused, where it is one; else the one that departs most is looked at.
    """
    departures: dict[str, Departure] = {}
    extent = Extent.HOST
    for entity, window in windows.items():
        mine = np.array([row.node == node for row in window.rows])
        if not mine.any():
            continue
        found = _Departures.of(window, mine, stretch)
        if entity is Entity.GPU:
            extent = found.extent
        departures.update(found.of_card(gpu) if entity is Entity.GPU else found.of_extremes())
    told = [e for e in events if e.node == node and stretch.onset <= e.timestamp.timestamp()]
    told = [event for event in told if event.timestamp.timestamp() <= stretch.until]
    xids = _xids(windows, node, stretch) | _told_xids(told)
    grown = frozenset(_grown(windows, node, stretch))
    reasons = _slow_reasons(windows, node, stretch)
    heard = {
        entity: Hearing.of(
            window, node, stretch.unheard(window), stretch.past(window),
            gpu if entity is Entity.GPU else None,
        )
        for entity, window in windows.items()
        if entity in (Entity.GPU, Entity.NODE)
    }  # fmt: skip
    cards, host = heard.get(Entity.GPU), heard.get(Entity.NODE)
    host_is_heard = host is not None and host.is_heard_now
    is_told_of_card = (
        gpu is not None
        or bool(xids)
        or bool((reasons or 0) & TELLING_REASONS)
        or any(metric.startswith("gpu_") for metric in grown)
    )
    if extent is Extent.HOST and is_told_of_card:
        extent = Extent.ONE_GPU
    return Signature(
        extent=extent,
        departures=departures,
        rows_missing=has_holes(list(heard.values())),
        cards_missing=cards is not None and cards.has_lost_cards(host_is_heard),
        cards_unsteady=cards is not None and cards.has_unsteady_cards(),
        grown=grown,
        xids=xids,
        slow_reasons=reasons,
        has_stopped=_has_stopped(windows, stretch),
        has_exited=any(event.kind is EventKind.PROCESS_EXIT for event in told),
    )


@dataclass(frozen=True, slots=True)
class _Departures:
    """Of the machine's rows, by row and metric."""

    rows: tuple[int | None, ...]
    metrics: tuple[str, ...]
    deviations: Floats
    relatives: Floats

    @classmethod
    def of(cls, window: Window, mine: NDArray[np.bool_], stretch: Stretch) -> _Departures:
        at = [n for n, metric in enumerate(window.metrics) if metric not in _UNTOLD]
        metrics = tuple(window.metrics[n] for n in at)
        new, past = (means(window.values[:, at, part]) for part in (
            stretch.new(window), stretch.past(window)))  # fmt: skip
        changes, peers = new - past, ~mine if (~mine).any() else mine
        usual = median(new[peers])
        for one in derived(metrics, new, past, stretch.ages):
            metrics, usual = (*metrics, one.name), np.append(usual, 0.0)
            changes = np.column_stack([changes, one.changes])
            new = np.column_stack([new, one.levels])
        least = np.fmax([_resolution(metric) for metric in metrics], _LEVEL_SHARE * np.abs(usual))
        if np.count_nonzero(peers) < _FEWEST_PEERS:
            parts = (stretch.past(window), stretch.new(window))
            wander = standard_error(*(_apart(window.values[:, at, one], mine) for one in parts))
            least[: len(at)] = np.fmax(least[: len(at)], wander)
        found = Compared.best_of(changes, new, peers, least)
        apart = found.apart[mine]
        relatives = np.divide(apart, usual, out=np.full_like(apart, np.nan), where=usual != 0.0)
        rows = tuple(window.rows[at].index for at in np.flatnonzero(mine).tolist())
        return cls(rows, metrics, apart / found.noise, relatives)

    @property
    def strengths(self) -> Floats:
        """How much each row departs, by its strongest metric."""
        strengths: Floats = np.nan_to_num(np.abs(self.deviations)).max(axis=1, initial=0.0)
        return strengths

    @property
    def extent(self) -> Extent:
        """How many of the GPUs depart."""
        strongest = self.strengths.max()
        departing = int((self.strengths >= max(_STRONG, strongest / 3)).sum())
        if strongest < _STRONG:
            return Extent.HOST
        return (
            Extent.ONE_GPU if departing < max(2, len(self.strengths) / 2) else Extent.SEVERAL_GPUS
        )

    def of_card(self, gpu: int | None) -> Iterator[tuple[str, Departure]]:
        """Of this card, or of the one that departs most."""
        is_known = gpu is not None and gpu in self.rows
        row = self.rows.index(gpu) if is_known else int(self.strengths.argmax())
        return self._picked(np.full(len(self.metrics), row))

    def of_extremes(self) -> Iterator[tuple[str, Departure]]:
        """Of whichever row departs most in each metric."""
        return self._picked(np.nan_to_num(np.abs(self.deviations)).argmax(axis=0))

    def _picked(self, rows: NDArray[np.intp]) -> Iterator[tuple[str, Departure]]:
        for at, (metric, row) in enumerate(zip(self.metrics, rows.tolist(), strict=True)):
            relative = float(self.relatives[row, at])
            yield metric, Departure(float(self.deviations[row, at]), relative)


def _apart(values: NDArray[np.floating], mine: NDArray[np.bool_]) -> Floats:
    """How far the machine is from its peers in each slot, (metric, slot)."""
    own, others = (means(np.moveaxis(values[some], 0, 2)) for some in (mine, ~mine))
    apart: Floats = own - others
    return apart


def _slots(window: Window, first: int, beyond: int) -> slice:
    width, slots = window.slot_seconds, int(window.values.shape[2])
    begin, end = ((second - window.first_second) // width for second in (first, beyond))
    return slice(min(max(begin, 0), slots), min(max(end, 0), slots))


def _resolution(metric: str) -> float:
    return next((n for name, n in _RESOLUTION.items() if metric.endswith(name)), _RESOLUTION_ELSE)


def _rows_of(window: Window, node: NodeName) -> list[int]:
    return [at for at, row in enumerate(window.rows) if row.node == node]


def _grown(windows: Mapping[Entity, Window], node: NodeName, stretch: Stretch) -> Iterator[str]:
    for window in windows.values():
        mine = _rows_of(window, node)
        for metric, least in _GROWS_BY.items():
            if metric in window.metrics and mine:
                values = window.values[mine, window.metrics.index(metric), stretch.since(window)]
                if any(_growth(row) >= least for row in values):
                    yield metric


def _growth(values: NDArray[np.floating]) -> float:
    """How much a running total has grown; one that started anew counts from there."""
    known = values[~np.isnan(values)]
    return float(np.maximum(np.diff(known), 0.0).sum())


def _xids(windows: Mapping[Entity, Window], node: NodeName, stretch: Stretch) -> frozenset[int]:
    """The codes that cards show since the onset and did not before: the last one stays for days.

    Of a code that stands in the first slot that is held nobody knows how old it is.
    """
    window = windows.get(Entity.GPU)
    if window is None or "gpu_xid" not in window.metrics:
        return frozenset()
    values = window.values[_rows_of(window, node), window.metrics.index("gpu_xid")]
    old, new = stretch.past(window), stretch.since(window)
    return frozenset(
        code
        for card in values
        for code in _codes(card[new]) - (_codes(card[old]) or _codes(card[:1]))
    )


def _codes(shown: NDArray[np.floating]) -> set[int]:
    return {int(code) for code in shown[shown > 0]}


def _slow_reasons(windows: Mapping[Entity, Window], node: NodeName, stretch: Stretch) -> int | None:
    """The reasons that a driver gives since the onset and gave at no card before."""
    window = windows.get(Entity.GPU)
    if window is None or "gpu_throttle_reasons" not in window.metrics:
        return None
    values = window.values[_rows_of(window, node), window.metrics.index("gpu_throttle_reasons")]
    new, old = (values[:, part] for part in (stretch.since(window), stretch.past(window)))
    if np.isnan(new).all():
        return None
    return _bits(new) & ~_bits(old)


def _bits(masks: NDArray[np.floating]) -> int:
    return int(np.bitwise_or.reduce(masks[~np.isnan(masks)].astype(np.int64), initial=0))


def _told_xids(events: Sequence[Event]) -> frozenset[int]:
    codes = [event.details.get("xid") for event in events if event.kind is EventKind.XID]
    return frozenset(code for code in codes if isinstance(code, int))


def _has_stopped(windows: Mapping[Entity, Window], stretch: Stretch) -> bool:
    """Whether no rank of the job has made a step for as long as is looked at."""
    window = windows.get(Entity.RANK)
    if window is None or "step" not in window.metrics:
        return False
    steps = window.values[:, window.metrics.index("step")]
    return _rises(steps[:, stretch.past(window)]) and not _rises(steps[:, stretch.new(window)])


def _rises(steps: NDArray[np.floating]) -> bool:
    """Whether any row is ever higher than it was before."""
    return bool((steps > np.fmin.accumulate(steps, axis=1)).any())
