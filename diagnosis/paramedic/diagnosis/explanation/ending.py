"""What an open verdict waits for: what has to be seen before it is resolved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Fault, Phase, Tier
from paramedic.diagnosis.excuses import Hold
from paramedic.diagnosis.finding import Trouble, subject_of
from paramedic.diagnosis.joining import is_slow_rank
from paramedic.diagnosis.one_card import is_with_departure
from paramedic.diagnosis.trails import LANES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paramedic.diagnosis.contract import Verdict
    from paramedic.diagnosis.departures import DepartureWatch
    from paramedic.diagnosis.straggler import StragglerWatch

_WORKS = "it ends when nothing has spoken against how the machine works for so long"
_SHARED = "it ends when nothing has spoken against what its nodes share for so long"
_FAST = "it ends when no rank of the node has been slow for so long, a slow slot taking two back"
_STANDS = "while the job does nothing nobody is acquitted: it has to go on first"
_OTHERS = {
    Trouble.GONE: "it ends when the job trains again",
    Trouble.ALIVE: "it ends when the node is heard again and again, or the job trains without it",
    Trouble.UNHEARD: "it ends when the telemetry comes again",
    Trouble.GROUP: "it ends when all its nodes are heard of again, and the job goes on",
}
_IS_BACK = "it ends when the card is reported again, or its node has left a job that goes on"


def waits_for(
    verdict: Verdict,
    machines: DepartureWatch,
    ranks: StragglerWatch,
    slot_seconds: int,
    quiet_seconds: float,
) -> Iterator[Hold]:
    """What each part of it waits for, with how far that is."""
    one = verdict
    trouble = subject_of(one.node, one.fault, one.gpu, one.tier, one.phase, one.members).trouble
    is_of_work = one.tier is Tier.PATTERN or is_with_departure(one)
    if one.phase is Phase.FAILED and is_of_work:
        yield Hold(_STANDS)
    if one.members and is_of_work:
        yield _so_long(_SHARED, machines.calm_of_group(one.members, slot_seconds), "s")
    elif is_of_work and one.node is not None:
        if is_slow_rank(one):
            yield _so_long(_FAST, ranks.healthy_slots(one.node, slot_seconds), "slots")
        if trouble is not Trouble.ALIVE and one.evidence[0].metric not in LANES:
            yield _so_long(_WORKS, machines.calm_seconds(one.node, slot_seconds), "s")
    elif trouble in _OTHERS:
        yield Hold(_OTHERS[trouble])
    if trouble is Trouble.CARD:
        is_lost = one.fault is Fault.GPU_CARD_DROP
        told = f"what was told is over when its state is, or after {quiet_seconds:g} s without it"
        yield Hold(_IS_BACK if is_lost else told)


def _so_long(why: str, amount: tuple[float | None, float], unit: str) -> Hold:
    now, needed = amount
    return Hold(why) if now is None else Hold(why, min(now, needed), needed, unit)
