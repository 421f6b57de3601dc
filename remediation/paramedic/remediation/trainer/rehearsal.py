"""The step, run twice alone before a process joins.

DDP lays its gradient buckets out anew in the forward pass after the first backward pass. A
process that joins must have the layout that the others have, or the sizes of their messages and
the order of their sums differ. The rehearsal also takes the time of first calls (imports,
memory) out of the recovery: a spare has had them behind it.
"""

from __future__ import annotations

import contextlib
import copy
import io
from typing import TYPE_CHECKING

from paramedic.remediation.trainer.seeding import generators_kept

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, MutableMapping

    from paramedic.remediation.trainer.protected_state import ProtectedState

REHEARSING = "PARAMEDIC_REHEARSING"
"""Set during the rehearsal, for code that has no session at hand."""

_TIMES = 2


def rehearse(
    state: ProtectedState, step: Callable[[], object], variables: MutableMapping[str, str]
) -> None:
    """Run the step alone and undo what it did to the state. What it prints is not shown."""
    held = state.progress.holds_state
    before = state.begin_attempt()
    saved = copy.deepcopy(state.capture())
    with _told(variables), generators_kept(), contextlib.redirect_stdout(io.StringIO()):
        for _ in range(_TIMES):
            step()
    state.rewind(before)
    state.restore(saved)
    state.progress.holds_state = held


@contextlib.contextmanager
def _told(variables: MutableMapping[str, str]) -> Iterator[None]:
    variables[REHEARSING] = "1"
    try:
        yield
    finally:
        del variables[REHEARSING]
