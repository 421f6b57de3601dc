"""Remembers what ranks told of steps that no window reaches any more.

A window holds 60 slots. Of steps that take a second these are 60 steps; of steps that take 12 s
they are five, which are too few to know how far healthy ranks differ. So the newest steps before
the window are kept, and stand close before it: how long ago they were makes no difference.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.ingest.contract import EntityKey, Window

_Number = TypeVar("_Number", np.floating[Any], np.bool_)

_STEPS = 30
"""Enough to know a usual spread by; of no use to jobs whose steps take less than 2 s."""


class _Step(NamedTuple):
    second: int
    values: NDArray[np.float32 | np.float64]
    """(metric, row)"""
    observed: NDArray[np.bool_]


@dataclass(slots=True)
class EarlierSteps:
    """The slots of this stretch of training in which ranks told of a step, the newest of them."""

    _steps: deque[_Step] = field(default_factory=lambda: deque(maxlen=_STEPS))
    _rows: tuple[EntityKey, ...] = ()
    _metrics: tuple[str, ...] = ()

    def clear(self) -> None:
        """Nothing of before may be compared."""
        self._steps.clear()

    def remember(self, part: Window) -> None:
        """Keep the newest slot of what may be compared."""
        self._arrange(part)
        observed = part.observed.T[-1]
        if observed.any():
            values = part.values.T[-1].copy()
            self._steps.append(_Step(part.last_second, values, observed.copy()))

    def before(self, part: Window) -> Window:
        """The window with the remembered steps before it in front; its own slots stay."""
        self._arrange(part)
        earlier = [step for step in self._steps if step.second < part.first_second]
        if not earlier:
            return part
        values = _joined([step.values for step in earlier], part.values.T)
        observed = _joined([step.observed for step in earlier], part.observed.T)
        first_second = part.first_second - len(earlier) * part.slot_seconds
        return replace(part, first_second=first_second, values=values.T, observed=observed.T)

    def _arrange(self, part: Window) -> None:
        """Bring what is remembered into the order of this window; who is new told nothing."""
        if part.rows == self._rows and part.metrics == self._metrics:
            return
        rows = _places(self._rows, part.rows)
        metrics = _places(self._metrics, part.metrics)
        for at, step in enumerate(self._steps):
            values = np.full((len(part.metrics), len(part.rows)), np.nan, step.values.dtype)
            observed = np.zeros(values.shape, np.bool_)
            for target, source in ((values, step.values), (observed, step.observed)):
                target[np.ix_(metrics.here, rows.here)] = source[np.ix_(metrics.there, rows.there)]
            self._steps[at] = _Step(step.second, values, observed)
        self._rows, self._metrics = part.rows, part.metrics


def _joined(first: list[NDArray[_Number]], then: NDArray[_Number]) -> NDArray[_Number]:
    """Slots one after the other; np.concatenate would copy the first ones twice."""
    joined = np.empty((len(first) + len(then), *then.shape[1:]), then.dtype)
    for slot, values in zip(joined, first, strict=False):
        slot[:] = values
    joined[len(first) :] = then
    return joined


class _Places(NamedTuple):
    """Where those are who are both among the old and the new."""

    there: list[int]
    here: list[int]


def _places(old: tuple[object, ...], new: tuple[object, ...]) -> _Places:
    known = {one: at for at, one in enumerate(old)}
    both = [(known[one], at) for at, one in enumerate(new) if one in known]
    return _Places([there for there, _ in both], [here for _, here in both])
