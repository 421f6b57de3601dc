"""A process group over gloo whose every wait ends at once when its generation ends.

gloo alone cannot do that: closing a connection does not wake an operation that has received or
sent a part of its message, so a survivor could sit until the time-out of half an hour. Here the
caller never waits for gloo. It waits for a completion that the red button can settle, while gloo
works on copies that nobody else uses.
"""

from __future__ import annotations

import re
import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from paramedic.remediation.trainer.completion import Completion, InterruptibleWork
from paramedic.remediation.trainer.staging import stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from paramedic.remediation.trainer.collective_log import CollectiveLog
    from paramedic.remediation.trainer.errors import GenerationBrokenError
    from paramedic.remediation.trainer.interruption import Interruption

_SOURCE_LOCATION = re.compile(r"\[\S+:\d+\] ")
_CLOSING_TAG = 0x7A7A7A
_CLOSING_TIMEOUT = timedelta(milliseconds=1)


def _collective(name: str, *, writes: bool = True) -> Any:
    """A method that runs gloo's operation of this name; its first argument gets the results.

    Typed loosely, because torch calls each with several signatures, from Python and from C++.
    """

    def method(group: InterruptibleGroup, *arguments: Any, **keywords: Any) -> dist.Work:
        every = (*arguments, *keywords.values())
        return group.run(name, every, every[0] if writes else [])

    method.__name__ = name
    return method


class InterruptibleGroup(dist.ProcessGroup):
    """The members of one generation."""

    def __init__(
        self, raw: dist.ProcessGroupGloo, interruption: Interruption, log: CollectiveLog
    ) -> None:
        super().__init__(raw.rank(), raw.size())  # type: ignore[call-arg]
        self._raw: dist.ProcessGroupGloo | None = raw
        self._rank = raw.rank()
        self._size = raw.size()
        self._log = log
        # Held while connections are closed, so that the last reference to gloo's group is never
        # dropped there: that would make the closing thread wait for a stuck worker of gloo.
        self._closing = threading.Lock()
        self.interruption = interruption
        interruption.watch(self._close)

    def rank(self) -> int:
        """This process's place."""
        return self._rank

    def size(self) -> int:
        """How many members there are."""
        return self._size

    def getBackendName(self) -> str:  # noqa: N802 - torch asks by this name
        """Not `gloo`: torch would look for the C++ object behind that name."""
        return "interruptible-gloo"

    def retire(self) -> threading.Thread:
        """Let go of gloo's group in a thread of its own, because its end may wait long.

        It waits for gloo's worker threads, and one of them may be stuck in half a message.
        """
        self.interruption.press("the group was retired")
        with self._closing:
            holder = [self._raw]
            self._raw = None
        thread = threading.Thread(target=holder.clear, name="paramedic-retire", daemon=True)
        thread.start()
        return thread

    def _close(self, _cause: GenerationBrokenError) -> None:
        with self._closing:
            if self._raw is not None:
                _close_connections(self._raw)

    allreduce = _collective("allreduce")
    allreduce_coalesced = _collective("allreduce_coalesced")
    broadcast = _collective("broadcast")
    reduce = _collective("reduce")
    allgather = _collective("allgather")
    allgather_coalesced = _collective("allgather_coalesced")
    _allgather_base = _collective("_allgather_base")
    all_gather_single = _collective("_allgather_base")
    gather = _collective("gather")
    scatter = _collective("scatter")
    reduce_scatter = _collective("reduce_scatter")
    _reduce_scatter_base = _collective("_reduce_scatter_base")
    reduce_scatter_single = _collective("_reduce_scatter_base")
    alltoall = _collective("alltoall")
    alltoall_base = _collective("alltoall_base")
    all_to_all_single = _collective("alltoall_base")
    recv = _collective("recv")
    recv_anysource = _collective("recv_anysource")
    send = _collective("send", writes=False)
    barrier = _collective("barrier", writes=False)

    def run(self, name: str, arguments: tuple[Any, ...], written: Any) -> dist.Work:
        """Hand copies to gloo; `written` are the tensors that get the results."""
        staged = stage(arguments, written)
        completion = Completion(self.interruption, staged.results, staged.deliver)
        began = self._log.begin(staged.size_bytes)

        def ended(error: str | None) -> None:
            self._log.end(began)
            completion.finish(error)

        self._hand_over(name, staged.arguments, ended)
        return InterruptibleWork(completion)

    def _hand_over(
        self, name: str, arguments: tuple[Any, ...], ended: Callable[[str | None], None]
    ) -> None:
        raw = self._raw
        if raw is None:
            return
        try:
            work = getattr(raw, name)(*arguments)
        except RuntimeError as error:
            ended(in_short(error))
            return
        if name in {"send", "recv", "recv_anysource"}:
            _watch_from_a_thread(work, ended)
        else:
            _watch_future(work, ended)


def in_short(error: BaseException) -> str:
    """An error's first sentence without gloo's source location, for a log or a message."""
    first = (str(error).splitlines() or [type(error).__name__])[0]
    return _SOURCE_LOCATION.sub("", first).partition(". ")[0]


def _watch_future(work: dist.Work, ended: Callable[[str | None], None]) -> None:
    def look(future: torch.futures.Future[Any]) -> None:
        try:
            future.value()
        except RuntimeError as error:
            ended(in_short(error))
        else:
            ended(None)

    work.get_future().add_done_callback(look)


def _watch_from_a_thread(work: dist.Work, ended: Callable[[str | None], None]) -> None:
    """Point-to-point operations of gloo have no future."""

    def wait() -> None:
        try:
            work.wait()
        except RuntimeError as error:
            ended(in_short(error))
        else:
            ended(None)

    threading.Thread(target=wait, name="paramedic-point-to-point", daemon=True).start()


def _close_connections(raw: dist.ProcessGroupGloo) -> None:
    """Make gloo close every connection of the group, so that the peers see it too.

    A receive that runs into its time-out is gloo's own way to do that; its `abort` does nothing.
    """
    receive = getattr(raw, "recv")  # noqa: B009 - torch's type information lacks it
    for peer in range(raw.size()):
        if peer == raw.rank():
            continue
        try:
            receive([torch.zeros(1)], peer, _CLOSING_TAG).wait(_CLOSING_TIMEOUT)
        except RuntimeError:
            # What was wanted: this connection is closed now, or was before.
            continue
