"""Moves DistributedDataParallel to another process group.

The only place that touches a private function of torch: there is no public one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from paramedic.remediation.trainer.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOVE = "_update_process_group"


def require_movable(model: torch.nn.Module) -> None:
    """Raises SetupError when this torch cannot move the model's DDP wrappers."""
    for wrapper in _wrappers(model):
        if not callable(getattr(wrapper, _MOVE, None)):
            raise SetupError(
                f"torch {torch.__version__} has no DistributedDataParallel.{_MOVE}, which moves a "
                "model to another group without a restart: install torch 2.4 or newer"
            )


def move_to_world(model: torch.nn.Module) -> None:
    """Let every DDP wrapper in the model use the present world."""
    for wrapper in _wrappers(model):
        getattr(wrapper, _MOVE)(dist.group.WORLD)


def _wrappers(model: torch.nn.Module) -> Iterator[DistributedDataParallel]:
    return (part for part in model.modules() if isinstance(part, DistributedDataParallel))
