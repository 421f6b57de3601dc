"""What the end of a job resolves: all that is open, but for what brought the job down.

A job that fails ends, too, and its end acquits nobody: what had failed when it ended, without the
job going on since, is why it has ended, and stays open until another run begins. Only a job that
says that it has done its work had no reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Phase
from paramedic.diagnosis.finding import Subject, Trouble

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from paramedic.diagnosis.contract import Verdict
    from paramedic.diagnosis.detector_state import DetectorState
    from paramedic.ingest.contract import Event

_WELL = "finished"
_REASON = "the job has finished"


def judge_end(event: Event, state: DetectorState) -> tuple[Verdict, ...]:
    """What the event of the job's end resolves."""
    excused = state.downfall.excuse_clean()
    if event.details.get("result") == _WELL:
        state.downfall.forget()
        return state.docket.close(event.timestamp, _REASON)
    return close_after_end(event.timestamp, state, [Subject(one, Trouble.GONE) for one in excused])


def close_after_end(
    at: datetime, state: DetectorState, excused: Collection[Subject] = ()
) -> tuple[Verdict, ...]:
    """What is resolved in a job that is over, once it is known who of those that ended was first.

    `excused` is nobody's reason.
    """
    if state.downfall.is_pending:
        return ()
    reasons = [
        subject
        for subject, verdict in state.docket.open.items()
        if verdict.phase is Phase.FAILED and not state.going_on.after(verdict)
    ]
    kept = [one for one in reasons if one not in excused]
    return state.docket.close(at, _REASON, kept)
