"""When checkpoints are written, and the thread that writes them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from paramedic.remediation.trainer import control_messages
from paramedic.remediation.trainer.control_messages import CheckpointResult
from paramedic.remediation.trainer.state_encoding import EncodedState, encode_state

if TYPE_CHECKING:
    from collections.abc import Callable

    from paramedic.remediation.trainer.checkpoint_files import CheckpointFolder
    from paramedic.remediation.trainer.protected_state import ProtectedState


class Checkpoints:
    """Copies the state at a step boundary and writes it beside training.

    A disk that is full or gone is reported and never stops training.
    """

    def __init__(
        self,
        folder: CheckpointFolder,
        interval_seconds: float,
        clock: Callable[[], float],
        report: Callable[[bytes], None],
    ) -> None:
        self._folder = folder
        self._interval_seconds = interval_seconds
        self._clock = clock
        self._report = report
        self._due_at = clock() + interval_seconds
        self._writer: threading.Thread | None = None

    def save_if_due(self, state: ProtectedState, generation: int) -> None:
        """At a step boundary of rank 0. While one is being written, the next waits."""
        now = self._clock()
        if now < self._due_at or (self._writer is not None and self._writer.is_alive()):
            return
        self._due_at = now + self._interval_seconds
        step = state.progress.next_step - 1
        encoded = encode_state(state.capture(), copy=True)
        self._writer = threading.Thread(
            target=self._write,
            args=(step, generation, encoded),
            name="paramedic-checkpoint",
            daemon=True,
        )
        self._writer.start()

    def _write(self, step: int, generation: int, encoded: EncodedState) -> None:
        try:
            self._folder.save(step, encoded)
        except OSError as error:
            result, reason = CheckpointResult.FAILED, f"{self._folder.folder}: {error}"
        else:
            result, reason = CheckpointResult.SAVED, f"{encoded.size_bytes} bytes"
        self._report(control_messages.checkpoint(generation, step, result, reason))

    def load(self, state: ProtectedState, generation: int) -> None:
        """Take the newest checkpoint that holds, if there is one."""
        loaded, rejected = self._folder.load_newest()
        for error in rejected:
            line = control_messages.checkpoint(generation, 0, CheckpointResult.FAILED, str(error))
            self._report(line)
        if loaded is None:
            return
        state.restore(loaded.state)
        reason = f"newest that holds in {self._folder.folder}"
        self._report(
            control_messages.checkpoint(generation, loaded.step, CheckpointResult.LOADED, reason)
        )

    def wait(self, timeout_seconds: float) -> None:
        """Let the checkpoint that is being written be finished."""
        if self._writer is not None:
            self._writer.join(timeout_seconds)
