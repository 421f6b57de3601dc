"""Reads one line of a metrics page, leniently: exporters paste label values without escaping.

A quote inside a label value ends the value only when a comma and the next label, or the closing
brace and a value, follow it. Exemplars are passed over, and timestamps too, as long as they can be
times: a page is one moment.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from paramedic.ingest.exposition.moments import is_stamp

_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:.]*")
_LABEL = re.compile(
    r'[\s,]*(?:([a-zA-Z_][a-zA-Z0-9_.:/-]*)\s*=\s*"|"((?:[^"\\]|\\.)*)"(\s*=\s*")?)'
)
_NEXT_LABEL = re.compile(r'\s*,\s*(?:"(?:[^"\\]|\\.)*"|[a-zA-Z_][a-zA-Z0-9_.:/-]*)\s*=\s*"')
_CLOSING = re.compile(r"[\s,]*\}(?:\s+\S|\s*$|[-+.0-9NIni])")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "\\": "\\", '"': '"'}


class Unreadable(StrEnum):
    """Why a line could not be read."""

    NAME = "bad_name"
    LABELS = "bad_labels"
    NO_VALUE = "no_value"
    NOT_A_NUMBER = "not_a_number"
    TIME = "bad_time"


@dataclass(frozen=True, slots=True)
class SampleLine:
    """A line that could be read."""

    key: str
    """The series as it is written: the line up to its value."""
    name: str
    labels: dict[str, str]
    value: float


def read_sample_line(line: str) -> SampleLine | Unreadable:
    """Read one line that is no comment and not blank."""
    start = len(line) - len(line.lstrip())
    named = _NAME.match(line, start)
    name, position = ("", start) if named is None else (named[0], named.end())
    labels: dict[str, str] = {}
    opening = position + _spaces(line, position)
    if line.startswith("{", opening):
        closing = _read_labels(line, opening + 1, labels)
        if closing is None:
            return Unreadable.LABELS
        position = closing
        name = name or labels.pop("__name__", "")
    if not name:
        return Unreadable.NAME
    value = read_number(line[position:])
    if isinstance(value, Unreadable):
        return value
    return SampleLine(line[start:position].rstrip(), name, labels, value)


def _spaces(line: str, position: int) -> int:
    return len(line) - position - len(line[position:].lstrip())


def _read_labels(line: str, position: int, into: dict[str, str]) -> int | None:
    """Where the braces have closed; None when they do not."""
    while True:
        rest = line[position:].lstrip(" \t,")
        position = len(line) - len(rest)
        if rest.startswith("}"):
            return position + 1
        label = _LABEL.match(line, position)
        if label is None:
            return None
        position = label.end()
        if label[1] is None and label[3] is None:
            into["__name__"] = _unescaped(label[2])
            continue
        end = _end_of_value(line, position)
        if end is None:
            return None
        into[label[1] or _unescaped(label[2])] = _unescaped(line[position:end])
        position = end + 1


def _end_of_value(line: str, start: int) -> int | None:
    """The quote that ends a label's value."""
    position = line.find('"', start)
    while position >= 0:
        after = position + 1
        if not _is_escaped(line, start, position) and (
            _NEXT_LABEL.match(line, after) or _CLOSING.match(line, after)
        ):
            return position
        position = line.find('"', after)
    return None


def _is_escaped(line: str, start: int, quote: int) -> bool:
    before = line[start:quote]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[0]), text)


def read_number(text: str) -> float | Unreadable:
    """The first word as a number; a timestamp and an exemplar may follow it."""
    words = text.split(maxsplit=2)
    if not words:
        return Unreadable.NO_VALUE
    try:
        value = float(words[0])
    except ValueError:
        return Unreadable.NOT_A_NUMBER
    is_dated = len(words) > 1 and not words[1].startswith("#")
    return Unreadable.TIME if is_dated and not is_stamp(words[1]) else value
