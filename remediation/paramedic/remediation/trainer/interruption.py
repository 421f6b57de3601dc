"""The red button of one generation: pressing it wakes everything that waits inside it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from paramedic.remediation.trainer.errors import GenerationBrokenError

if TYPE_CHECKING:
    from collections.abc import Callable


class Interruption:
    """Collects what must be woken when the generation ends. Safe to use from any thread.

    It stays pressed for ever, so nothing of an ended generation can start to wait again.
    """

    def __init__(self, generation: int) -> None:
        self.generation = generation
        self._lock = threading.Lock()
        self._wakes: dict[int, Callable[[GenerationBrokenError], None]] = {}
        self._next_token = 0
        self._cause: GenerationBrokenError | None = None

    @property
    def cause(self) -> GenerationBrokenError | None:
        """Why it was pressed; None while the generation lives."""
        return self._cause

    def watch(self, wake: Callable[[GenerationBrokenError], None]) -> int:
        """Call `wake` when the button is pressed. Returns a token for `forget`.

        Raises the cause when it has been pressed already.
        """
        with self._lock:
            if self._cause is not None:
                raise self._cause
            self._next_token += 1
            self._wakes[self._next_token] = wake
            return self._next_token

    def forget(self, token: int) -> None:
        """What was watched has ended by itself."""
        with self._lock:
            self._wakes.pop(token, None)

    def press(self, reason: str) -> None:
        """End the generation; only the first press counts."""
        with self._lock:
            if self._cause is not None:
                return
            self._cause = GenerationBrokenError(f"generation {self.generation} ended: {reason}")
            wakes = list(self._wakes.values())
            self._wakes.clear()
        for wake in wakes:
            wake(self._cause)
