"""What becomes of a machine by an event: a card is lost or there again, a node leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.diagnosis.blame import causes
from paramedic.diagnosis.cards import is_return, judge_card
from paramedic.diagnosis.contract import Fault
from paramedic.diagnosis.finding import Subject, Trouble
from paramedic.ingest.contract import EventKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paramedic.diagnosis.contract import Verdict
    from paramedic.diagnosis.docket import Docket
    from paramedic.diagnosis.going_on import GoingOn
    from paramedic.diagnosis.picture import JobPicture
    from paramedic.ingest.contract import Event


def judge_machine_event(
    event: Event, picture: JobPicture, docket: Docket, going_on: GoingOn
) -> Iterator[Verdict]:
    """What the event fires or resolves.

    All nodes leave a job that has ended: whoever brought it down is not acquitted by that.
    """
    if event.node is not None and event.node in picture.departed:
        is_end = event.kind is EventKind.PROCESS_EXIT and event.details.get("expected") is not True
        if is_end:
            return  # what is open about it may be why
        kept = [subject for subject, _ in causes(docket, going_on)]
        yield from docket.clear_departed(event.node, event.timestamp, kept)
    elif is_return(event):
        reason = f"GPU {event.gpu} of {event.node} is reported again"
        card = docket.open.get(Subject(event.node, Trouble.CARD, event.gpu))
        if card is not None and card.fault is Fault.GPU_CARD_DROP:
            yield from docket.clear(event.node, Trouble.CARD, event.timestamp, reason, event.gpu)
    elif (lost := judge_card(event, picture.generation)) is not None:
        yield from docket.report(lost)
