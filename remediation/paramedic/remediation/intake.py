"""Reads messages of the bus into records, and refuses what could not be stored or judged."""

from __future__ import annotations

from dataclasses import dataclass

from paramedic.diagnosis.contract import Verdict, VerdictFormatError
from paramedic.ingest.contract import ContractError, Event, EventKind, JobState, Message, Topic

_LARGEST_NUMBER = 2**31 - 1


@dataclass(frozen=True, slots=True)
class VerdictMessage:
    """A verdict with its message as it came."""

    verdict: Verdict
    document: bytes


class UnreadableMessageError(ValueError):
    """A message that is no verdict or event; it goes to the dead letters."""


def read(message: Message) -> VerdictMessage | Event | None:
    """The record in a message; None for topics that are not remediation's.

    Raises UnreadableMessageError.
    """
    try:
        if message.topic is Topic.VERDICTS:
            verdict = Verdict.from_json(message.payload)
            _check_verdict(verdict)
            return VerdictMessage(verdict, message.payload.strip())
        if message.topic is Topic.EVENTS:
            event = Event.from_json(message.payload)
            _check_event(event)
            return event
    except (ContractError, VerdictFormatError) as error:
        where = f"{message.topic.value} {message.partition}/{message.offset}"
        raise UnreadableMessageError(f"{where}: {error}") from error
    return None


def _check_verdict(verdict: Verdict) -> None:
    _require(isinstance(verdict.id, str) and bool(verdict.id), "id", verdict.id)
    _require(isinstance(verdict.job, str) and bool(verdict.job), "job", verdict.job)
    _require(verdict.node is None or isinstance(verdict.node, str), "node", verdict.node)
    _require(all(isinstance(node, str) for node in verdict.members), "members", verdict.members)
    _require(_is_number(verdict.generation), "generation", verdict.generation)
    is_share = _is_real(verdict.confidence) and 0.0 <= verdict.confidence <= 1.0
    _require(is_share, "confidence", verdict.confidence)
    _require(isinstance(verdict.summary, str), "summary", verdict.summary)


def _require(holds: bool, field: str, value: object) -> None:
    if not holds:
        raise VerdictFormatError(f"not a verdict: {field} is {value!r}")


def _check_event(event: Event) -> None:
    state = event.details.get("state")
    is_unknown_state = event.kind is EventKind.JOB_STATE and state not in tuple(JobState)
    by = event.details.get("by")
    names_nobody = event.details.get("change") == "replaced_by" and not isinstance(by, str)
    numbers = (event.rank, event.generation, event.details.get("step"))
    for is_wrong, what in (
        (not isinstance(event.job, str) or not event.job, f"job {event.job!r}"),
        (not isinstance(event.node, str | None), f"node {event.node!r}"),
        (is_unknown_state, f"state {state!r}"),
        (event.kind is EventKind.MEMBERSHIP and names_nobody, f"replaced_by {by!r}"),
        (any(n is not None and not _is_number(n) for n in numbers), f"a number of {numbers!r}"),
    ):
        if is_wrong:
            raise ContractError(f"not an event: {what}")


def _is_number(value: object) -> bool:
    if not isinstance(value, int) or isinstance(value, bool):
        return False
    return 0 <= value <= _LARGEST_NUMBER


def _is_real(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
