"""Watches a run from outside: everything on its bus, when it arrived, and what it means."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from paramedic.api.demo.observations import Injection, Observed, newest_step, read_message
from paramedic.api.demo.pulse import Pulse
from paramedic.api.demo.timeline import describe
from paramedic.ingest.contract import TelemetryBatch

if TYPE_CHECKING:
    from paramedic.api.demo.screen import Screen
    from paramedic.api.wiring.narration import Line
    from paramedic.ingest.contract import Subscription


class Watch:
    """Collects what is seen and shows it as it arrives."""

    def __init__(
        self,
        subscription: Subscription,
        screen: Screen,
        clock: Callable[[], float],
        read_batch: Callable[[bytes], TelemetryBatch],
    ) -> None:
        """`clock` gives seconds that never go back."""
        self._subscription = subscription
        self._screen = screen
        self._clock = clock
        self._read_batch = read_batch
        self.observed: list[Observed] = []
        """Events and verdicts, in order of arrival."""
        self.pulse = Pulse()
        self.injection: Injection | None = None
        self.batches = 0
        self.progress_at_seconds = clock()
        """When the job was last seen to reach a new step."""

    def look(self, timeout_seconds: float) -> None:
        """Take what has arrived, waiting at most this long. Raises BusUnavailableError."""
        for message in self._subscription.poll(timeout_seconds):
            observed = read_message(message, self._clock(), self._read_batch)
            if observed is not None:
                self._take(observed)
        self._screen.status(self._status())

    def say(self, line: Line) -> None:
        """Add a line of the demo's own to the timeline."""
        self._screen.line(line, self._since_injection(self._clock()))

    def stalled_seconds(self) -> float:
        """How long the job has not reached a new step."""
        return self._clock() - self.progress_at_seconds

    def _take(self, observed: Observed) -> None:
        if isinstance(observed.said, TelemetryBatch):
            self._take_batch(observed.at_seconds, observed.said)
            return
        self.observed.append(observed)
        line = describe(observed)
        if line is not None:
            self._screen.line(line, self._since_injection(observed.at_seconds))

    def _take_batch(self, at_seconds: float, batch: TelemetryBatch) -> None:
        self.batches += 1
        step = newest_step(batch)
        if step is None:
            return
        if self.pulse.step is None or step > self.pulse.step:
            self.progress_at_seconds = at_seconds
        self.pulse.add(at_seconds, step)

    def _since_injection(self, at_seconds: float) -> float | None:
        return None if self.injection is None else at_seconds - self.injection.at_seconds

    def _status(self) -> str:
        step = "no step yet" if self.pulse.step is None else f"step {self.pulse.step}"
        speed = self.pulse.steps_a_second()
        return f"batch {self.batches} of telemetry, {step}, {speed:.1f} steps a second"
