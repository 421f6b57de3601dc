"""Tells a broken generation from the user's own error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch.distributed as dist

from paramedic.remediation.trainer.errors import GenerationBrokenError

if TYPE_CHECKING:
    from paramedic.remediation.trainer.interruption import Interruption

_MARKS = ("gloo/", "gloo::", "NCCL error", "ncclSystemError", "ncclRemoteError")
"""How errors of groups that the user has made begin; those of the world press the button."""


def is_collective_failure(error: RuntimeError, interruption: Interruption) -> bool:
    """Whether trying again in the next generation can help.

    True when the generation has ended, whatever error that has become on its way through
    autograd, and for errors of torch.distributed.
    """
    if interruption.cause is not None or isinstance(error, GenerationBrokenError | dist.DistError):
        return True
    return any(mark in str(error) for mark in _MARKS)
