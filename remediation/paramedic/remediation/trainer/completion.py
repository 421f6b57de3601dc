"""One collective in flight: it ends by itself or because its generation ends, once."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING

import torch
import torch.distributed as dist

from paramedic.remediation.trainer.errors import GenerationBrokenError

if TYPE_CHECKING:
    from collections.abc import Callable

    from paramedic.remediation.trainer.interruption import Interruption

_NO_TIMEOUT = timedelta(0)


class Completion:
    """The end of one collective, settled by the backend's thread or by the red button.

    `deliver` copies the results to the caller's tensors. It runs under a lock and only if the
    backend came first, so a collective of an ended generation never writes to them.
    """

    def __init__(
        self,
        interruption: Interruption,
        results: list[torch.Tensor],
        deliver: Callable[[], None],
    ) -> None:
        self._interruption = interruption
        self._results = results
        self._deliver = deliver
        self._lock = threading.Lock()
        self._settled = False
        self._error: GenerationBrokenError | None = None
        self._gate: torch.futures.Future[None] = torch.futures.Future()
        # The error must be a real error of the future that C++ waits for, which only a
        # callback that raises can make; `set_exception` would be a value to C++.
        self.future = self._gate.then(self._outcome)
        self._token = interruption.watch(self._settle)

    def finish(self, error: str | None) -> None:
        """The backend has ended it; an error ends the whole generation."""
        if error is not None:
            self._interruption.press(error)
            return
        self._interruption.forget(self._token)
        self._settle(None)

    def _settle(self, error: GenerationBrokenError | None) -> None:
        with self._lock:
            if self._settled:
                return
            self._settled = True
            self._error = error
            if error is None:
                self._deliver()
        self._gate.set_result(None)

    def _outcome(self, _gate: torch.futures.Future[None]) -> list[torch.Tensor]:
        if self._error is not None:
            raise self._error
        return self._results

    def wait(self) -> None:
        """Wait for the end. Raises GenerationBrokenError when the generation ended first."""
        self._gate.wait()
        if self._error is not None:
            raise self._error


class InterruptibleWork(dist.Work):
    """What torch.distributed and DDP wait on."""

    def __init__(self, completion: Completion) -> None:
        super().__init__()
        self._completion = completion

    def wait(self, timeout: timedelta = _NO_TIMEOUT) -> bool:  # noqa: ARG002
        """Wait for the end; the backend's own time-out rules, `timeout` does not."""
        self._completion.wait()
        return True

    def get_future(self) -> torch.futures.Future[list[torch.Tensor]]:
        """A future with the results, or with the error that ended the generation."""
        return self._completion.future

    def is_completed(self) -> bool:
        """Whether it has ended, well or not."""
        return self._completion.future.done()
