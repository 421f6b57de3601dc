"""The clock by which silence is measured: it runs only while the bus is asked, and answers."""

from __future__ import annotations

_LONGEST_TURN_SECONDS = 1.0
"""What a turn takes beyond that was spent on something else than asking."""
_RETURN_SECONDS = 10.0
"""A publisher may wait so long for an answer that is lost, and sends again only then."""


class PolledTime:
    """Seconds that were spent polling a bus that answers, and that publishers reach.

    What comes in no other time may lie on the bus or on its way there, and is no silence: of nodes
    that go on reporting while the bus is away, everything arrives once it is back and they have
    found it again.

    >>> time = PolledTime()
    >>> time.turn(100.0, bus_answers=True), time.turn(100.5, bus_answers=True)
    (100.0, 100.5)
    >>> time.turn(130.0, bus_answers=False), time.turn(160.0, bus_answers=True)
    (100.5, 100.5)
    >>> [time.turn(160.0 + later, bus_answers=True) for later in range(1, 12)][-3:]
    [100.5, 101.5, 102.5]
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._last_turn: float | None = None
        self._returning_seconds = 0.0
        """How long publishers are still given to find the bus again."""

    def turn(self, now: float, *, bus_answers: bool) -> float:
        """A poll has ended at `now`, of any steady clock; gives the seconds since any origin."""
        if self._last_turn is None:
            self.seconds = now
        elif bus_answers:
            self._pass(min(now - self._last_turn, _LONGEST_TURN_SECONDS))
        else:
            self._returning_seconds = _RETURN_SECONDS
        self._last_turn = now
        return self.seconds

    def _pass(self, seconds: float) -> None:
        granted = min(seconds, self._returning_seconds)
        self._returning_seconds -= granted
        self.seconds += seconds - granted
