"""The session of a process that nobody supervises: under torchrun, or plain python."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import torch

    from paramedic.remediation.trainer.protected_state import Stateful

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class UnsupervisedSession:
    """Does nothing of its own, so that the same script runs everywhere."""

    rehearsing = False

    def protect(
        self,
        *,
        model: torch.nn.Module,
        optimizer: torch.optim.Optimizer,
        scheduler: Stateful | None = None,
        **extras: Stateful,
    ) -> None:
        """Nothing to protect from."""

    def attempt(self, step: Callable[Parameters, Result]) -> Callable[Parameters, Result | None]:
        """The function as it is."""
        return step

    def steps(self, count: int) -> Iterator[int]:
        """Every step from 0 up to `count`."""
        return iter(range(count))
