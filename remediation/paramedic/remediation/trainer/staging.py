"""Copies of a collective's tensors, for the backend to work on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from paramedic.remediation.trainer.errors import SetupError


@dataclass(frozen=True, slots=True)
class Staged:
    """Arguments with copies in place of tensors, and the way back."""

    arguments: tuple[Any, ...]
    results: list[torch.Tensor]
    """The caller's tensors that get the results."""
    copies: list[torch.Tensor]
    size_bytes: int

    def deliver(self) -> None:
        """Copy the results to the caller's tensors."""
        with torch.no_grad():
            for result, copy in zip(self.results, self.copies, strict=True):
                result.copy_(copy)


def stage(arguments: tuple[Any, ...], written: Any) -> Staged:
    """Copy every tensor of the arguments; `written` names those that get results.

    Raises SetupError for a tensor that is not in the processor's memory.
    """
    copies: dict[int, torch.Tensor] = {}
    staged = tuple(_copy(argument, copies) for argument in arguments)
    results = tensors_of(written)
    return Staged(
        arguments=staged,
        results=results,
        copies=[copies[id(result)] for result in results],
        size_bytes=sum(copy.numel() * copy.element_size() for copy in copies.values()),
    )


def _copy(value: Any, copies: dict[int, torch.Tensor]) -> Any:
    if isinstance(value, torch.Tensor):
        if id(value) not in copies:
            copies[id(value)] = _clone(value)
        return copies[id(value)]
    if isinstance(value, list):
        return [_copy(item, copies) for item in value]
    return value


def _clone(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.device.type != "cpu":
        raise SetupError(
            f"a collective got a tensor on {tensor.device}: the supervised gloo group carries "
            "tensors in the processor's memory only"
        )
    return tensor.detach().clone(memory_format=torch.contiguous_format)


def tensors_of(value: Any) -> list[torch.Tensor]:
    """Every tensor in nested lists, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, list):
        return [tensor for item in value for tensor in tensors_of(item)]
    return []
