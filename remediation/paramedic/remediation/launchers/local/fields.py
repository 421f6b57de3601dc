"""Typed reading of the fields of one JSON line that may hold anything."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

Choice = TypeVar("Choice", bound=StrEnum)


class MessageError(Exception):
    """A line is not a message of the control protocol; says which field and what was found."""


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of one message. Every reader raises MessageError when the field is not so."""

    values: Mapping[str, Any]

    @classmethod
    def of_line(cls, line: bytes) -> Fields:
        """The fields of a line of JSON."""
        try:
            content = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise MessageError(f"not JSON: {line[:80]!r}") from error
        return cls.of(content)

    @classmethod
    def of(cls, content: object) -> Fields:
        """The fields of a decoded object."""
        if not isinstance(content, dict):
            raise MessageError(f"not an object: {str(content)[:80]!r}")
        return cls(content)

    def text(self, name: str) -> str:
        """A string that is not empty."""
        value = self.optional_text(name)
        if not value:
            raise self._wrong(name, "a text")
        return value

    def optional_text(self, name: str) -> str | None:
        """A string that can be written as UTF-8, or None when it is absent or null."""
        value = self.values.get(name)
        if value is None:
            return None
        if not isinstance(value, str):
            raise self._wrong(name, "a text")
        # JSON can carry lone surrogates; a log or the bus cannot.
        return value.encode(errors="replace").decode()

    def number(self, name: str, least: int = 0) -> int:
        """A whole number, zero or more unless told otherwise."""
        value = self.optional_number(name, least)
        if value is None:
            raise self._wrong(name, "a whole number")
        return value

    def optional_number(self, name: str, least: int = 0) -> int | None:
        """A whole number, zero or more, or None when it is absent or null."""
        value = self.values.get(name)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise self._wrong(name, "a whole number")
        return value

    def choice(self, name: str, choices: type[Choice]) -> Choice:
        """One of the values of an enum."""
        try:
            return choices(self.text(name))
        except ValueError as error:
            raise self._wrong(name, " or ".join(choices)) from error

    def rows(self, name: str) -> tuple[Fields, ...]:
        """A list of objects."""
        value = self.values.get(name)
        if not isinstance(value, list):
            raise self._wrong(name, "a list")
        return tuple(Fields.of(row) for row in value)

    def _wrong(self, name: str, wanted: str) -> MessageError:
        found = repr(self.values.get(name))[:80]
        return MessageError(f"{name}: {wanted} is needed, found {found}")
