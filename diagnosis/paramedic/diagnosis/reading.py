"""Reads messages of telemetry, slots and events; whatever they hold, nothing else breaks."""

from __future__ import annotations

from paramedic.diagnosis.ordering import Arrival
from paramedic.ingest.batch.json_form import read_batch
from paramedic.ingest.contract import Event, Message, Topic


def read(message: Message) -> Arrival:
    """What a message says.

    Raises ContractError, saying what is wrong, when it does not follow its topic's contract.
    """
    if message.topic is Topic.EVENTS:
        return Arrival(message, Event.from_json(message.payload))
    return Arrival(message, read_batch(message.payload))
