"""Reads messages of the telemetry and the events topic; whatever they hold, nothing else breaks."""

from __future__ import annotations

from paramedic.diagnosis.ordering import Arrival
from paramedic.ingest.batch.decode import decode
from paramedic.ingest.contract import ContractError, Event, Message, Topic


def read(message: Message) -> Arrival:
    """What a message says.

    Raises ContractError, saying what is wrong, when it does not follow its topic's contract.
    """
    if message.topic is Topic.TELEMETRY:
        return Arrival(message, decode(message.payload))
    event = Event.from_json(message.payload)
    _check_names(event)
    return Arrival(message, event)


def _check_names(event: Event) -> None:
    """JSON can hold anything where a name or a number should stand."""
    wanted: tuple[tuple[str, object, type], ...] = (
        ("job", event.job, str),
        ("node", event.node, str),
        ("rank", event.rank, int),
        ("gpu", event.gpu, int),
        ("generation", event.generation, int),
    )
    for field, value, kind in wanted:
        missing = value is None and field != "job"
        if not missing and (not isinstance(value, kind) or isinstance(value, bool)):
            raise ContractError(
                f"event {event.kind.value}: {field} is {value!r}, not {kind.__name__}"
            )
