"""Why nothing is said of a node, or nothing compared: maintenance, pauses, settling."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from paramedic.diagnosis.excuses import Hold
from paramedic.diagnosis.finding import moment
from paramedic.ingest.contract import format_time

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paramedic.diagnosis.maintenance.plan import MaintenancePlan, Stay
    from paramedic.diagnosis.picture import JobPicture, Settling
    from paramedic.ingest.contract import NodeName

PUT_ASIDE = "what comes of it is put aside meanwhile"
"""Of a node under maintenance."""


def why_nothing_is_said(node: NodeName, picture: JobPicture, second: int | None) -> Iterator[Hold]:
    """What keeps every verdict about the node back, whatever the evidence."""
    if picture.finished:
        yield Hold("the job has finished")
    if node in picture.departed:
        yield Hold("it has left the job")
    plan = picture.maintenance
    if second is not None and (stay := plan.stay_of(node, second)) is not None:
        yield _of_maintenance(stay, plan, second)


def why_not_compared(picture: JobPicture, second: int | None, settings: Settling) -> Hold | None:
    """What keeps everybody from being compared in the newest slot."""
    if second is None:
        return Hold("no second is closed yet")
    if picture.is_past(second):
        return Hold("the newest slot is of a stretch of training that is over")
    if picture.is_fit(second, settings):
        return None
    if picture.maintenance.covers_job(second):
        return Hold("maintenance is declared for the whole job")
    return _settling(picture, second, settings)


def _settling(picture: JobPicture, second: int, settings: Settling) -> Hold:
    pause = picture.pause_of(second, settings)
    if pause is not None:
        state, ended, settle = pause
        what = state.value.replace("_", " ")
        if second < ended:
            return Hold(f"the job is {what}")
        words = f"the job was {what} until lately and is given some time to settle"
        return Hold(words, second - ended, settle, "s")
    since = second - picture.stretch(second)
    if since < settings.settle_seconds:
        words = "this stretch of training is young and is given some time to settle"
        return Hold(words, since, settings.settle_seconds, "s")
    return Hold("it is not known that the job trains")


def _of_maintenance(stay: Stay, plan: MaintenancePlan, second: int) -> Hold:
    settle = plan.settings.settle_seconds
    whom = "the whole job" if stay.node is None else "it"
    why = f" ({stay.reason})" if stay.reason else ""
    if second >= stay.ends:
        words = f"maintenance of {whom} has ended{why}, and it is given some time to settle"
        return Hold(words, second - stay.ends, settle, "s")
    if math.isinf(stay.ends):
        words = f"maintenance is declared for {whom} until somebody says that it is over{why}"
        return Hold(words)
    words = (
        f"maintenance is declared for {whom} until {format_time(moment(int(stay.ends)))}{why}, and"
        f" {settle:.0f} s to settle after that"
    )
    return Hold(words, second - stay.begins, stay.ends + settle - stay.begins, "s")
