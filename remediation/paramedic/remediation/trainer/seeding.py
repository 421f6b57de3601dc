"""Random numbers that depend on the step and the rank, and on nothing that happened before."""

from __future__ import annotations

import functools
import hashlib
import random
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

_NUMPY_SEED_LIMIT = 2**32


def seed_for(job_seed: int, step: int, rank: int) -> int:
    """A 63-bit seed for one step of one rank."""
    digest = hashlib.sha256(f"{job_seed}:{step}:{rank}".encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


def seed_generators(seed: int) -> None:
    """Seed Python's, torch's (CUDA's too where it is used) and, if it is imported, NumPy's.

    A step that is tried again, and a newcomer, draw what the undisturbed run draws.
    """
    random.seed(seed)
    # torch.manual_seed also goes through every kind of accelerator that is not there.
    torch.default_generator.manual_seed(seed)
    if _has_cuda():
        torch.cuda.manual_seed_all(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % _NUMPY_SEED_LIMIT)


@functools.cache
def _has_cuda() -> bool:
    return torch.cuda.is_available()


@contextmanager
def generators_kept() -> Iterator[None]:
    """Give all generators their state back at the end."""
    python, numpy = random.getstate(), sys.modules.get("numpy")
    numpy_state = None if numpy is None else numpy.random.get_state()
    with torch.random.fork_rng(devices=_cuda_devices()):
        try:
            yield
        finally:
            random.setstate(python)
            if numpy is not None and numpy_state is not None:
                numpy.random.set_state(numpy_state)


def _cuda_devices() -> list[int]:
    used: bool = torch.cuda.is_initialized()
    return list(range(torch.cuda.device_count())) if used else []
