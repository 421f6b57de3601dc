"""The kinds of flags that verbs have, so that each is declared in a line or two."""

from __future__ import annotations

import math
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol, TypeVar

Request = TypeVar("Request")

_HIGHEST_PORT = 65535
_MOST_SHOWN = 80
MOST_SEED = 99_999_999
"""What is made of it fits into the 64 bits that every library that draws takes."""
_YEARS = range(1970, 2262)
"""What is told in nanoseconds ends then."""


class TakesFlags(Protocol):
    """A parser, or a group of one."""

    def add_argument(self, *names: str, **options: Any) -> Any:
        """Take one more flag, as `argparse` has it."""
        ...


def switch(parser: TakesFlags, flag: str, words: str) -> None:
    """A flag that is there or not."""
    parser.add_argument(flag, action="store_true", help=words)


def valued(
    parser: TakesFlags,
    flag: str,
    metavar: str,
    words: str,
    kind: Callable[[str], object] = str,
    default: object = None,
    **options: Any,
) -> None:
    """A flag with a value, which `kind` reads."""
    parser.add_argument(flag, metavar=metavar, type=kind, default=default, help=words, **options)


def repeated(parser: TakesFlags, flag: str, metavar: str, words: str, dest: str) -> None:
    """A flag that may come several times; each value is kept."""
    parser.add_argument(
        flag,
        metavar=metavar,
        action="append",
        default=[],
        dest=dest,
        help=f"{words}; may be repeated",
    )


def chosen(parser: TakesFlags, flag: str, choices: tuple[str, ...], words: str) -> None:
    """A flag whose value is one of these, the first by default."""
    parser.add_argument(flag, choices=choices, default=choices[0], help=words)


def filled(kind: Callable[..., Request], flags: Namespace, /, **others: object) -> Request:
    """A request whose fields are the flags of the same name, but for those that are given."""
    names = [one.name for one in fields(kind) if one.name not in others]  # type: ignore[arg-type]
    return kind(**{name: getattr(flags, name) for name in names}, **others)


def path(text: str) -> Path:
    """The path that was given.

    Raises ArgumentTypeError for an empty one: a variable that is not set would silently become
    the current folder.
    """
    if not text.strip():
        raise ArgumentTypeError("the path is empty: name one or leave the flag out")
    return Path(text)


def port(text: str) -> int:
    """A port; 0 takes any free one where we listen. Raises ArgumentTypeError."""
    if not (text.isascii() and text.isdecimal() and len(text) < 6 and int(text) <= _HIGHEST_PORT):
        raise ArgumentTypeError(f"{text!r} is no port: give a number from 0 to {_HIGHEST_PORT}")
    return int(text)


def integer(text: str) -> int:
    """A whole number, also below 0. Raises ArgumentTypeError."""
    try:
        return int(text)
    except ValueError as error:
        shown = f"{text[:_MOST_SHOWN]}…" if len(text) > _MOST_SHOWN else text
        raise ArgumentTypeError(f"{shown!r} is no whole number") from error


def whole(text: str, least: int, most: int | None = None) -> int:
    """A whole number. Raises ArgumentTypeError."""
    number = integer(text)
    if number < least or (most is not None and number > most):
        upto = "on" if most is None else f"to {most}"
        raise ArgumentTypeError(f"{text!r}: give a whole number from {least} {upto}")
    return number


def seed(text: str) -> int:
    """What draws follow from. Raises ArgumentTypeError."""
    return whole(text, 0, MOST_SEED)


def positive(text: str) -> float:
    """A number above 0. Raises ArgumentTypeError."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < math.inf:
        raise ArgumentTypeError(f"{text!r} is no number above 0")
    return number


def moment(text: str) -> datetime:
    """The time that was given; one without a zone is UTC. Raises ArgumentTypeError."""
    try:
        given = datetime.fromisoformat(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is no time such as 2026-01-01T00:10:00Z") from error
    if given.year not in _YEARS:
        raise ArgumentTypeError(f"{text!r}: the year must be from {_YEARS[0]} to {_YEARS[-1]}")
    return given if given.tzinfo is not None else given.replace(tzinfo=UTC)
