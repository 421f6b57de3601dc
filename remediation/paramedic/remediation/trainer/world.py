"""torch.distributed's world: which group `dist.group.WORLD` is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch.distributed as dist

if TYPE_CHECKING:
    from datetime import timedelta

    from torch._C._distributed_c10d import Store

    from paramedic.remediation.trainer.interruptible_group import InterruptibleGroup

BACKEND = "paramedic"


class World:
    """Puts one group after the other in the place of the world."""

    def __init__(self) -> None:
        self._current: InterruptibleGroup | None = None
        dist.Backend.register_backend(BACKEND, self._hand_out, devices=["cpu"])

    @property
    def group(self) -> InterruptibleGroup:
        """The group that is the world now."""
        assert self._current is not None, "enter comes first"
        return self._current

    def meet(self) -> None:
        """Wait until everybody is here."""
        dist.barrier()

    def enter(self, group: InterruptibleGroup, store: Store) -> None:
        """Leave the old world and make this group the new one."""
        self.leave()
        self._current = group
        dist.init_process_group(BACKEND, store=store, rank=group.rank(), world_size=group.size())

    def leave(self, timeout_seconds: float = 0.0) -> None:
        """Let go of the world, waiting at most so long for the backend's threads to end."""
        group, self._current = self._current, None
        retiring = None if group is None else group.retire()
        if dist.is_initialized():
            dist.destroy_process_group()
        if retiring is not None:
            retiring.join(timeout_seconds)

    def _hand_out(
        self,
        _store: Store,
        _rank: int,
        _world_size: int,
        _timeout: timedelta,
    ) -> InterruptibleGroup:
        return self.group
