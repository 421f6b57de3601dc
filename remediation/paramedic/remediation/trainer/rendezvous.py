"""How the members of a generation find each other."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING

import torch.distributed as dist
from torch._C._distributed_c10d import HashStore, PrefixStore, Store, TCPStore

from paramedic.remediation.trainer.errors import GenerationBrokenError

if TYPE_CHECKING:
    from collections.abc import Callable

    from paramedic.remediation.trainer.control_messages import Assign
    from paramedic.remediation.trainer.interruption import Interruption

_TIMEOUT = timedelta(minutes=30)
"""torch.distributed's own default; a generation that ends never waits for it."""


class Meeting:
    """Opens the store and connects the members in a thread of its own.

    Nothing can wake a thread that waits in the store or for a connection. So nobody waits for
    that thread: when the generation ends it is left behind and ends by its time-out.
    """

    def __init__(self, assign: Assign, announce: Callable[[int], None]) -> None:
        self._assign = assign
        self._announce = announce
        self._changed = threading.Condition()
        self._met: tuple[Store, dist.ProcessGroupGloo] | None = None
        self._error: GenerationBrokenError | None = None

    def meet(self, interruption: Interruption) -> tuple[Store, dist.ProcessGroupGloo]:
        """The store and the connected group.

        Raises GenerationBrokenError when the generation ends first or a member is not there.
        """
        token = interruption.watch(self._fail)
        name = f"paramedic-meet-{self._assign.generation}"
        threading.Thread(target=self._connect, name=name, daemon=True).start()
        with self._changed:
            while self._met is None and self._error is None:
                self._changed.wait()
            met, self._met = self._met, None
        interruption.forget(token)
        if met is None:
            raise self._error or GenerationBrokenError("the meeting was left")
        return met

    def _connect(self) -> None:
        try:
            store = self._open_store()
            named = PrefixStore(f"generation-{self._assign.generation}", store)
            group = dist.ProcessGroupGloo(
                named, self._assign.rank, self._assign.world_size, _TIMEOUT
            )
        except RuntimeError as error:
            self._fail(GenerationBrokenError(f"the members did not meet: {error}"))
            return
        with self._changed:
            if self._error is None:
                self._met = (named, group)
            self._changed.notify_all()

    def _open_store(self) -> TCPStore:
        port = self._assign.store_port
        if port is not None:
            return TCPStore(self._assign.store_host, port, is_master=False, timeout=_TIMEOUT)
        # Port 0 lets the system choose, so no two generations or jobs can collide.
        store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, timeout=_TIMEOUT)
        self._announce(store.port)
        return store

    def _fail(self, error: GenerationBrokenError) -> None:
        with self._changed:
            self._error = self._error or error
            self._changed.notify_all()


def meet_alone() -> tuple[Store, dist.ProcessGroupGloo]:
    """A group of one, for building the model and for the rehearsal."""
    store = HashStore()
    return store, dist.ProcessGroupGloo(store, 0, 1, _TIMEOUT)
