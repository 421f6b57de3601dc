"""Measures a step without a line of the user's: with hooks on the model and the optimizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from paramedic.remediation.trainer.step_times import SecondOfSteps, StepTimes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from paramedic.remediation.trainer.collective_log import CollectiveLog

_NORM_EVERY_SECONDS = 1.0


class StepMeter:
    """From the attempt's start to its commit. Used by the main thread only."""

    def __init__(
        self, clock: Callable[[], float], collectives: CollectiveLog, second: SecondOfSteps
    ) -> None:
        self._clock = clock
        self._collectives = collectives
        self._second = second
        self._optimizer: torch.optim.Optimizer | None = None
        self._norm_due_at = clock()
        self.begin()

    def instrument(self, model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
        """Put the hooks on."""
        self._optimizer = optimizer
        model.register_forward_pre_hook(self._before_forward, with_kwargs=True)
        optimizer.register_step_pre_hook(self._before_optimizer)

    def begin(self) -> None:
        """An attempt starts."""
        self._collectives.drain()
        self._began = self._clock()
        self._forward_at: float | None = None
        self._samples: int | None = None
        self._gradient_norm: float | None = None

    def _before_forward(self, _module: Any, arguments: Any, keywords: Any) -> None:
        if self._forward_at is None:
            self._forward_at = self._clock()
            self._samples = _first_length([*arguments, *keywords.values()])

    def _before_optimizer(self, optimizer: torch.optim.Optimizer, *_arguments: object) -> None:
        now = self._clock()
        if now >= self._norm_due_at:
            self._norm_due_at = now + _NORM_EVERY_SECONDS
            self._gradient_norm = _gradient_norm(optimizer)

    def commit(self, step: int, world_size: int, result: object) -> None:
        """The attempt has succeeded; `result` is what the user's function returned."""
        now = self._clock()
        collectives = self._collectives.drain()
        forward_at = self._began if self._forward_at is None else self._forward_at
        self._second.add(
            StepTimes(
                step=step,
                step_seconds=now - self._began,
                dataloader_seconds=forward_at - self._began,
                collective_seconds=collectives.exposed_seconds,
                collective_durations_seconds=collectives.durations_seconds,
                collective_bytes=collectives.bytes_carried,
                samples=self._samples,
                world_size=world_size,
                loss=_number(result),
                gradient_norm=self._gradient_norm,
                learning_rate=self._learning_rate(),
            )
        )

    def _learning_rate(self) -> float | None:
        if self._optimizer is None:
            return None
        return _number(self._optimizer.param_groups[0].get("lr"))


def _first_length(values: Iterable[object]) -> int | None:
    for value in values:
        if isinstance(value, torch.Tensor) and value.dim() > 0:
            return value.shape[0]
    return None


def _gradient_norm(optimizer: torch.optim.Optimizer) -> float | None:
    gradients = [
        parameter.grad
        for group in optimizer.param_groups
        for parameter in group["params"]
        if parameter.grad is not None and not parameter.grad.is_sparse
    ]
    return float(torch.nn.utils.get_total_norm(gradients)) if gradients else None


def _number(value: object) -> float | None:
    if isinstance(value, torch.Tensor) and value.numel() == 1:
        return float(value.detach())
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return None
