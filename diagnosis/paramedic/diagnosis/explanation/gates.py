"""Why nothing is compared at a moment: pauses, settling, a job that is over."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from paramedic.ingest.contract import JobState

if TYPE_CHECKING:
    from paramedic.diagnosis.picture import JobPicture, Settling
    from paramedic.ingest.contract import NodeName


def why_not_compared(
    node: NodeName, picture: JobPicture, second: int | None, settings: Settling
) -> str:
    """What keeps the node from being compared in the newest slot; empty when nothing does."""
    if picture.finished:
        return "the job has finished"
    if node in picture.departed:
        return "it has left the job"
    if second is None:
        return "no second is closed yet"
    if picture.maintenance.covers(node, second):
        return "maintenance has been declared for it, or for the whole job"
    if picture.is_past(second):
        return "the newest slot is of a stretch of training that is over"
    if picture.is_fit(second, settings):
        return ""
    if picture.doing is not JobState.TRAINING:
        return f"the job is {picture.doing.value.replace('_', ' ')}"
    return _settling(picture, second, settings)


def _settling(picture: JobPicture, second: int, settings: Settling) -> str:
    since = second - picture.stretch(second)
    if since < settings.settle_seconds and not math.isinf(since):
        return (
            f"this stretch of training is {since:.0f} s old and is given"
            f" {settings.settle_seconds} s to settle"
        )
    return f"the job has paused and is given {settings.pause_settle_seconds} s to settle"
