"""Keeps the agent's list of processes the same as the supervisor's."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from paramedic.ingest.contract import Event, EventKind
from paramedic.remediation.launchers.port import LauncherUnavailableError, Placement

if TYPE_CHECKING:
    from paramedic.ingest.agent.watched import WatchList

_LOG = logging.getLogger(__name__)
_LOOK_SECONDS = 1.0
_TELLING = (EventKind.MEMBERSHIP, EventKind.PROCESS_EXIT, EventKind.JOB_STATE)


def _nothing_else() -> None:
    """Looking is all there is to do."""


class WatchKeeper:
    """Asks the supervisor at every change, and every second, in a thread of its own."""

    def __init__(
        self,
        observe: Callable[[], Sequence[Placement]],
        watch: WatchList,
        also: Callable[[], None] = _nothing_else,
        look_seconds: float = _LOOK_SECONDS,
    ) -> None:
        """`also` is called at every look."""
        self._observe = observe
        self._watch = watch
        self._also = also
        self._look_seconds = look_seconds
        self._changed = threading.Event()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="watch-keeper", daemon=True)

    def start(self) -> None:
        """Begin to ask."""
        self._thread.start()

    def close(self, timeout_seconds: float) -> None:
        """Ask no more."""
        self._over.set()
        self._changed.set()
        self._thread.join(timeout_seconds)

    def notice(self, event: Event) -> None:
        """Look soon, if the event says that processes or ranks have changed. Never waits."""
        if event.kind in _TELLING:
            self._changed.set()

    def look(self) -> None:
        """Take over what the supervisor says now."""
        from paramedic.ingest.agent.watched import WatchedProcess

        try:
            placements = self._observe()
        except LauncherUnavailableError as error:
            # Before the supervisor listens and after it has ended; the list stays as it is.
            _LOG.debug("watched processes stay as they are: %s", error)
            return
        self._watch.replace(
            WatchedProcess(one.node, one.process_id, one.rank)
            for one in placements
            if one.process_id is not None
        )

    def _keep(self) -> None:
        while not self._over.is_set():
            self._changed.wait(self._look_seconds)
            self._changed.clear()
            self.look()
            self._also()
