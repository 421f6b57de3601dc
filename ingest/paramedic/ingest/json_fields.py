"""Fields of JSON files that people write; mistakes are told with file, place, value and wish."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

Refusal = TypeVar("Refusal", bound=Exception)

_SHOWN_CHARACTERS = 80


class JsonObject(Generic[Refusal]):
    """An object in the file, and where it stands."""

    def __init__(
        self, file: Path, value: object, refuse: Callable[[str], Refusal], where: str = ""
    ) -> None:
        """`refuse` makes the errors; `where` ends with a dot. Raises one for what is no object."""
        self.file = file
        self._where = where
        self._refuse = refuse
        if not isinstance(value, dict):
            raise refuse(f"{file}: {where.rstrip('.') or 'the file'} is no JSON object")
        self.value: dict[str, Any] = value

    def wrong(self, name: str, value: object, wanted: str) -> Refusal:
        """The error about a field."""
        text = f"{self._where}{name} is {_shown(value)}, it must be {wanted}"
        return self._refuse(f"{self.file}: {text}")

    def missing(self, name: str, remedy: str = "add it") -> Refusal:
        """The error about a field that is not there."""
        return self._refuse(f"{self.file}: {self._where}{name} is missing: {remedy}")

    def required(self, name: str, remedy: str = "add it") -> Any:
        """The value of a field that has to be there."""
        if self.value.get(name) is None:
            raise self.missing(name, remedy)
        return self.value[name]

    def text(self, name: str, remedy: str = "add it") -> str:
        """A text that is not empty."""
        value = self.required(name, remedy)
        if not isinstance(value, str) or not value:
            raise self.wrong(name, value, "a text that is not empty")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts, none of them empty."""
        value = self.required(name)
        if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
            raise self.wrong(name, value, "a list of names")
        return tuple(value)

    def whole(self, name: str, most: int) -> int:
        """A whole number from 0 on."""
        value = self.required(name)
        is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        if not is_whole or isinstance(value, bool) or not 0 <= value <= most:
            raise self.wrong(name, value, f"a whole number from 0 to {most}")
        return int(value)

    def number(self, name: str, most: float, wanted: str) -> float:
        """A number from 0 on."""
        value = self.required(name)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value) or not 0 <= value <= most:
            raise self.wrong(name, value, wanted)
        return float(value)

    def flag(self, name: str) -> bool:
        """True or false; false where it is absent."""
        value = self.value.get(name)
        if value is not None and not isinstance(value, bool):
            raise self.wrong(name, value, "true or false")
        return bool(value)

    def objects(self, name: str) -> list[JsonObject[Refusal]]:
        """The objects of a list, which may be absent."""
        value = [] if self.value.get(name) is None else self.value[name]
        if not isinstance(value, list):
            raise self.wrong(name, value, "a list of objects")
        return [
            JsonObject(self.file, one, self._refuse, f"{self._where}{name}[{at}].")
            for at, one in enumerate(value)
        ]


def read_json(file: Path, refuse: Callable[[str], Refusal]) -> object:
    """What the file says. Raises OSError, or what `refuse` makes for what is no JSON."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise refuse(f"{file} is not JSON: {error}") from error


def _shown(value: object) -> str:
    """The value, shortened to what a line bears."""
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
