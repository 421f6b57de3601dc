"""How long what drivers and counters tell is kept together."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KnownErrorSettings:
    """Times of known errors."""

    together_seconds: float = 10.0
    """What several GPUs of a node tell within so much is one trouble of the node."""
    echo_seconds: float = 60.0
    """An error of the program that another node tells within so much is the same one."""
    quiet_seconds: float = 600.0
    """So long without a repetition, and what has not failed is well again."""

    def __post_init__(self) -> None:
        if not 0 < self.together_seconds <= self.quiet_seconds:
            raise ValueError(
                f"together_seconds ({self.together_seconds}) must lie between 0 and"
                f" quiet_seconds ({self.quiet_seconds})"
            )
