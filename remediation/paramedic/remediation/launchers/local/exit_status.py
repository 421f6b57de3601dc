"""How a process ended."""

from __future__ import annotations

import signal
from dataclasses import dataclass

_SHELL_SIGNAL_BASE = 128


@dataclass(frozen=True, slots=True)
class ExitStatus:
    """An exit code or the number of the signal that ended the process; exactly one of them."""

    exit_code: int | None = None
    signal: int | None = None

    def __post_init__(self) -> None:
        if (self.exit_code is None) == (self.signal is None):
            raise ValueError(f"exactly one of exit code and signal is needed: {self}")

    @classmethod
    def of_return_code(cls, return_code: int) -> ExitStatus:
        """From `Popen.returncode`, which is negative for a signal."""
        return cls(signal=-return_code) if return_code < 0 else cls(exit_code=return_code)

    @property
    def is_success(self) -> bool:
        """Whether the process said that all went well."""
        return self.exit_code == 0

    @property
    def shell_code(self) -> int:
        """What a shell reports: the exit code, or 128 plus the signal."""
        return _SHELL_SIGNAL_BASE + self.signal if self.signal else int(self.exit_code or 0)

    def __str__(self) -> str:
        if self.signal is None:
            return f"exited with {self.exit_code}"
        try:
            return f"was ended by {signal.Signals(self.signal).name}"
        except ValueError:
            return f"was ended by signal {self.signal}"
