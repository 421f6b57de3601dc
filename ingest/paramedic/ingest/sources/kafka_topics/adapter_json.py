"""The JSON of prometheus-kafka-adapter: one sample a message.

`{"timestamp": "2026-01-01T00:00:00Z", "value": "412", "name": "…", "labels": {"__name__": …}}`
"""

from __future__ import annotations

from collections.abc import Sequence

from paramedic.ingest.sources.kafka_topics.samples import (
    Poison,
    PoisonError,
    Sample,
    object_of,
    texts_of,
    time_of,
)


def read_adapter_message(payload: bytes) -> Sequence[Sample]:
    """The message's sample; the value is a number or the text of one, such as `NaN`.

    Raises PoisonError.
    """
    message = object_of(payload)
    labels = texts_of(message.get("labels"))
    name = message.get("name") or labels.get("__name__")
    if not isinstance(name, str):
        raise PoisonError(Poison.NO_NAME, message)
    labels.pop("__name__", None)
    seconds = time_of(message.get("timestamp"))
    return (Sample(seconds, name, labels, _value(message.get("value"))),)


def _value(told: object) -> float:
    if isinstance(told, bool) or not isinstance(told, str | int | float):
        raise PoisonError(Poison.NO_VALUE, told)
    try:
        return float(told)
    except (ValueError, OverflowError) as error:
        raise PoisonError(Poison.NO_VALUE, told) from error
