"""One sample as another tool's message tells it, and what makes a message poison."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, slots=True)
class Sample:
    """One value of one series at one moment."""

    seconds: float
    name: str
    labels: Mapping[str, str]
    value: float


class Poison(StrEnum):
    """Why a message could not be read."""

    NOT_JSON = "not_json"
    NO_NAME = "no_name"
    NO_LABELS = "no_labels"
    NO_VALUE = "no_value"
    NO_TIME = "no_time"


class PoisonError(Exception):
    """A message that is not what its topic's format says."""

    def __init__(self, poison: Poison, told: object) -> None:
        super().__init__(f"{poison.value}: {told!r:.120}")
        self.poison = poison


ReadMessage = Callable[[bytes], Sequence[Sample]]
"""The samples of one message. Raises PoisonError."""

# A number is a time in the largest unit that makes it older than the year 2286.
_SECONDS_LIMIT = 1e10
_UNIT_FACTOR = 1000.0


def object_of(payload: bytes) -> dict[str, Any]:
    """The JSON object that a message is. Raises PoisonError when it is none."""
    try:
        message = json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise PoisonError(Poison.NOT_JSON, payload[:120]) from error
    if not isinstance(message, dict):
        raise PoisonError(Poison.NOT_JSON, message)
    return message


def time_of(value: object) -> float:
    """Unix seconds of a number in s, ms, µs or ns, or of an RFC 3339 text. Raises PoisonError."""
    if isinstance(value, str):
        return _time_of_text(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise PoisonError(Poison.NO_TIME, value)
    try:
        seconds = float(value)
    except OverflowError as error:
        raise PoisonError(Poison.NO_TIME, value) from error
    if not 0.0 <= seconds < math.inf:
        raise PoisonError(Poison.NO_TIME, value)
    while seconds >= _SECONDS_LIMIT:
        seconds /= _UNIT_FACTOR
    return seconds


def texts_of(value: object) -> dict[str, str]:
    """Labels or tags, as texts. Raises PoisonError when it is no object of such."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise PoisonError(Poison.NO_LABELS, value)
    return {str(key): text if isinstance(text, str) else str(text) for key, text in value.items()}


def _time_of_text(text: str) -> float:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise PoisonError(Poison.NO_TIME, text) from error
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
