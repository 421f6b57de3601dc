"""What happens when a fault becomes fatal: one machine stops, the others wait until they give up.

The others spin in their collective, fully utilised and doing nothing, until it times out. Then
every rank aborts, and the job is over or is started again.
"""

from __future__ import annotations

import numpy as np

from paramedic.ingest.synthetic.causes import Causes
from paramedic.ingest.synthetic.faults.place import Cards
from paramedic.ingest.synthetic.faults.plan import Stop, StopKind
from paramedic.ingest.synthetic.phases import Pause

_NEIGHBOURS_EXIT_AFTER_SECONDS = 2
"""The launcher on the node ends the other ranks when one has exited."""
_ABORT_SIGNAL = -6.0


class Stopping:
    """A stop at its place."""

    def __init__(self, stop: Stop, cards: Cards) -> None:
        self._stop = stop
        self._cards = cards

    def press(self, causes: Causes, second: int) -> None:
        """Stop the machine, and in time the job; nothing after the job's restart."""
        stop = self._stop
        if second < stop.at or (stop.restarts_at is not None and second >= stop.restarts_at):
            return
        if stop.kind is not StopKind.LINK_DOWN:
            causes.work_slowdown[self._cards] = np.inf
        self._stop_machine(causes, second - stop.at)
        if second >= stop.aborts_at:
            self._abort(causes, second)

    def _stop_machine(self, causes: Causes, age_seconds: int) -> None:
        kind, cards = self._stop.kind, self._cards
        if kind is StopKind.CRASH:
            self._crash(causes, age_seconds)
        elif kind is StopKind.HANG:
            causes.runs_away[cards] = True
        elif kind is StopKind.LINK_DOWN:
            causes.nic_ratio[cards[0]] = 0.0
            causes.link_downs[cards[0]] += age_seconds == 0
        elif kind is StopKind.BLOCKED:
            causes.is_idle[cards] = True
        elif kind is StopKind.CARD_GONE:
            causes.is_idle[cards] = True
            causes.is_present[cards] = False
        elif kind is StopKind.NODE_GONE:
            causes.is_seen[cards[0]] = False

    def _crash(self, causes: Causes, age_seconds: int) -> None:
        if age_seconds == 0:
            causes.exit_code[self._cards] = float(self._stop.exit_code)
        causes.has_process[self._cards] = False
        if age_seconds < _NEIGHBOURS_EXIT_AFTER_SECONDS:
            return
        node = self._cards[0]
        if age_seconds == _NEIGHBOURS_EXIT_AFTER_SECONDS:
            causes.exit_code[node] = np.where(causes.has_process[node], -15.0, 0.0)
        causes.has_process[node] = False

    def _abort(self, causes: Causes, second: int) -> None:
        if second == self._stop.aborts_at:
            hears = causes.has_process & causes.is_seen[:, None]
            causes.exit_code = np.where(hears, _ABORT_SIGNAL, causes.exit_code)
        causes.has_process[...] = False
        causes.halt = Pause.OVER if self._stop.restarts_at is None else Pause.RECOVERING
