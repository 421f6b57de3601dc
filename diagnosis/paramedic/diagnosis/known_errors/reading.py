"""Reads files of known errors: the one that ships, and a user's own that is laid over it."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields, replace
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from paramedic.diagnosis.contract import Fault, Phase, RecommendedAction, Severity
from paramedic.diagnosis.known_errors.entry import (
    Cause,
    Concern,
    Kind,
    KnownError,
    KnownErrors,
    Rule,
)
from paramedic.diagnosis.known_errors.errors import KnownErrorEntryError, KnownErrorsFileError

SHIPPED = Path(__file__).with_name("known_errors.toml")
_NEVER = "none"
_TOUCHING = frozenset(RecommendedAction) - {RecommendedAction.NONE, RecommendedAction.NOTIFY}
_Word = TypeVar("_Word", bound=StrEnum)
Parsed = dict[str, Any]


@cache
def shipped_known_errors() -> KnownErrors:
    """What Paramedic knows by itself."""
    return read_known_errors(SHIPPED.read_text(encoding="utf-8"), SHIPPED.name)


def known_errors_with(file: Path | None) -> KnownErrors:
    """What Paramedic knows, with a user's file laid over it; None for no file.

    Raises KnownErrorsFileError or KnownErrorEntryError.
    """
    if file is None:
        return shipped_known_errors()
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise KnownErrorsFileError(
            f"known errors: {file} cannot be read ({error}): name a TOML file in UTF-8"
        ) from error
    return read_known_errors(text, str(file), shipped_known_errors())


def read_known_errors(text: str, origin: str, below: KnownErrors | None = None) -> KnownErrors:
    """Read a file's text; of what lies below, an entry changes the fields that it names.

    `origin` is what errors call the file. Raises KnownErrorsFileError or KnownErrorEntryError.
    """
    entries = {} if below is None else dict(below.entries)
    seen: set[tuple[Kind, str]] = set()
    for kind, table in _tables(text, origin):
        for key in _keys(kind, table, origin):
            if (kind, key) in seen:
                raise _wrong(origin, kind, key, "is there twice: keep one of the entries")
            seen.add((kind, key))
            entries[kind, key] = _entry(kind, key, table, origin, entries.get((kind, key)))
    return KnownErrors(entries)


def _tables(text: str, origin: str) -> Iterator[tuple[Kind, Parsed]]:
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise KnownErrorsFileError(f"known errors: {origin} is not TOML: {error}") from error
    for name, tables in document.items():
        is_list = isinstance(tables, list) and all(isinstance(one, dict) for one in tables)
        if name not in frozenset(Kind) or not is_list:
            raise KnownErrorsFileError(
                f"known errors: {origin}: {name!r} is no list of known errors: use [[xid]],"
                " [[sxid]], [[recovery_action]] or [[metric]]"
            )
        yield from ((Kind(name), table) for table in tables)


def _keys(kind: Kind, table: Parsed, origin: str) -> list[str]:
    """The entries that a table speaks of: one code, several that are alike, or a named rule."""
    if kind is Kind.METRIC:
        return [_text(table.get("id"), "id", f"{origin}: [[metric]]")]
    codes = table["codes"] if "codes" in table else [table.get("code")]
    is_good = isinstance(codes, list) and codes and ("code" in table) != ("codes" in table)
    if not is_good or not all(type(code) is int and 0 <= code < 10**6 for code in codes):
        raise KnownErrorEntryError(
            f"known errors: {origin}: [[{kind}]]: code = {codes!r}: needs code = 79, or codes = "
            "[39, 40] for several that are alike"
        )
    return [str(code) for code in codes]


def _entry(
    kind: Kind, key: str, table: Parsed, origin: str, below: KnownError | None
) -> KnownError:
    place = f"{origin}: [[{kind}]] {key}"
    named = {name: value for name, value in table.items() if name not in ("code", "codes", "id")}
    if unknown := sorted(set(named) - set(_READERS)):
        raise _wrong(origin, kind, key, f"{unknown[0]!r} is no field: {', '.join(_READERS)}")
    parsed = {name: _READERS[name](value, name, place) for name, value in named.items()}
    if below is not None:
        entry = replace(below, **parsed)
    elif missing := [name for name in _required(kind) if name not in parsed]:
        raise _wrong(origin, kind, key, f"is new here, so it needs the field {missing[0]!r} too")
    else:
        entry = KnownError(kind=kind, key=key, **parsed)
    _refuse_contradictions(entry, place)
    return entry


def _required(kind: Kind) -> list[str]:
    always = [one.name for one in fields(KnownError) if one.name not in ("kind", "key")]
    optional = {
        one.name
        for one in fields(KnownError)
        if one.default is not MISSING or one.default_factory is not MISSING
    }
    return [n for n in always if n not in optional or (kind is Kind.METRIC and n == "metric")]


def _refuse_contradictions(entry: KnownError, place: str) -> None:
    never = entry.severity is None and not any(entry.severity_if.values())
    if never and entry.action in _TOUCHING:
        raise KnownErrorEntryError(
            f"known errors: {place}: action = {entry.action.value!r} with severity = 'none': what"
            " never acts can only have action 'none' or 'notify'; give it a severity"
        )
    if entry.kind is not Kind.METRIC and entry.metric is not None:
        raise KnownErrorEntryError(
            f"known errors: {place}: metric = {entry.metric!r}: only a [[metric]] has one"
        )


def _wrong(origin: str, kind: Kind, key: str, what: str) -> KnownErrorEntryError:
    return KnownErrorEntryError(f"known errors: {origin}: [[{kind}]] {key}: {what}")


def _text(value: object, name: str, place: str) -> str:
    if isinstance(value, str) and value.strip():
        return value
    raise KnownErrorEntryError(f"known errors: {place}: {name} = {value!r}: needs some text")


def _amount(value: object, name: str, place: str) -> float:
    if type(value) in (int, float) and 0 < float(str(value)) < float("inf"):
        return float(str(value))
    raise KnownErrorEntryError(f"known errors: {place}: {name} = {value!r}: needs a number above 0")


def _severity(value: object, name: str, place: str) -> Severity | None:
    if value == _NEVER:
        return None
    words = [*(one.value for one in Severity), _NEVER]
    if value not in words:
        raise _no_word(value, name, place, words)
    return Severity(str(value))


def _severities(value: object, name: str, place: str) -> Mapping[str, Severity | None]:
    if not isinstance(value, dict):
        raise KnownErrorEntryError(
            f"known errors: {place}: {name} = {value!r}: needs words of the driver with a severity"
            " each, such as { nonfatal = 'none' }"
        )
    return {word: _severity(one, f"{name}.{word}", place) for word, one in value.items()}


def _word_of(kind: type[_Word]) -> Callable[[object, str, str], _Word]:
    def read(value: object, name: str, place: str) -> _Word:
        words = [one.value for one in kind]
        if value not in words:
            raise _no_word(value, name, place, words)
        return kind(str(value))

    return read


def _no_word(value: object, name: str, place: str, words: list[str]) -> KnownErrorEntryError:
    return KnownErrorEntryError(
        f"known errors: {place}: {name} = {value!r}: needs one of {', '.join(words)}"
    )


_READERS: Mapping[str, Callable[[object, str, str], Any]] = {
    "name": _text,
    "meaning": _text,
    "cause": _word_of(Cause),
    "concerns": _word_of(Concern),
    "fault": _word_of(Fault),
    "nvidia": _text,
    "action": _word_of(RecommendedAction),
    "severity": _severity,
    "source": _text,
    "phase": _word_of(Phase),
    "severity_if": _severities,
    "metric": _text,
    "rule": _word_of(Rule),
    "at_least": _amount,
}
