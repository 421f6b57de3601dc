"""Everything that training has learned: what a newcomer and a checkpoint must hold."""

from __future__ import annotations

import copy
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import torch

from paramedic.remediation.trainer.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class Stateful(Protocol):
    """What can be protected: it gives its state and takes it back."""

    def state_dict(self) -> Any:
        """The state, of tensors and plain values."""
        ...

    def load_state_dict(self, state_dict: Any) -> Any:
        """Take a state back."""
        ...


@dataclass(slots=True)
class Progress:
    """Where the loop is."""

    next_step: int = 0
    """The first step that is not committed."""
    job_seed: int = 0
    holds_state: bool = False
    """False for a newcomer, and after an optimizer step whose attempt failed later."""


@dataclass(frozen=True, slots=True)
class Rewind:
    """What a failed attempt may have changed besides gradients."""

    buffers: tuple[torch.Tensor, ...]
    groups: list[dict[str, Any]]
    others: dict[str, Any]


@dataclass(slots=True)
class ProtectedState:
    """The user's objects, and how to take and give back their state."""

    model: torch.nn.Module
    optimizer: torch.optim.Optimizer
    others: Mapping[str, Stateful]
    """The scheduler and whatever else the user has registered, by name."""
    progress: Progress = field(default_factory=Progress)
    touched: bool = False
    """Whether an optimizer step has begun since the attempt's start."""

    def __post_init__(self) -> None:
        for name, part in self.others.items():
            if not (hasattr(part, "state_dict") and hasattr(part, "load_state_dict")):
                raise SetupError(
                    f"protect: {name} is a {type(part).__name__} without state_dict and "
                    "load_state_dict: wrap it in an object that has both"
                )
        for optimizer in self._optimizers():
            optimizer.register_step_pre_hook(self._note_step)

    def _optimizers(self) -> Iterator[torch.optim.Optimizer]:
        yield self.optimizer
        for part in self.others.values():
            if isinstance(part, torch.optim.Optimizer):
                yield part

    def _note_step(self, *_arguments: object) -> None:
        self.touched = True

    def capture(self) -> dict[str, Any]:
        """The whole state. Its tensors are the live ones."""
        return {
            "step": self.progress.next_step,
            "seed": self.progress.job_seed,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "others": {name: part.state_dict() for name, part in self.others.items()},
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Take over a whole state, and the place in the loop with it."""
        self.model.load_state_dict(self._with_versions(state["model"]))
        self.optimizer.load_state_dict(state["optimizer"])
        for name, part in self.others.items():
            part.load_state_dict(state["others"][name])
        self.progress.next_step = state["step"]
        self.progress.job_seed = state["seed"]
        self.progress.holds_state = True

    def _with_versions(self, parameters: dict[str, torch.Tensor]) -> OrderedDict[str, Any]:
        """Modules keep their format version in an attribute, which does not travel."""
        state = OrderedDict(parameters)
        vars(state).update(vars(self.model.state_dict()))
        return state

    def begin_attempt(self) -> Rewind:
        """Remember what a failed attempt could change: all but parameters, which only an
        optimizer step changes.
        """
        self.touched = False
        return Rewind(
            buffers=tuple(buffer.detach().clone() for buffer in self.model.buffers()),
            groups=[_settings(group) for group in self.optimizer.param_groups],
            others={name: copy.deepcopy(part.state_dict()) for name, part in self.others.items()},
        )

    def rewind(self, before: Rewind) -> None:
        """Undo a failed attempt. After a begun optimizer step the state is given up instead."""
        for parameter in self.model.parameters():
            parameter.grad = None
        with torch.no_grad():
            for buffer, value in zip(self.model.buffers(), before.buffers, strict=True):
                buffer.copy_(value)
        for group, settings in zip(self.optimizer.param_groups, before.groups, strict=True):
            group.update(settings)
        for name, part in self.others.items():
            part.load_state_dict(before.others[name])
        if self.touched:
            self.progress.holds_state = False


def _settings(group: dict[str, Any]) -> dict[str, Any]:
    return {key: copy.deepcopy(value) for key, value in group.items() if key != "params"}
