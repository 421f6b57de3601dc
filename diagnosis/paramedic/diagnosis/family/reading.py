"""Reads `families.toml`."""

from __future__ import annotations

import hashlib
import math
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from paramedic.diagnosis.contract import Fault
from paramedic.diagnosis.family.errors import KnowledgeError
from paramedic.diagnosis.family.knowledge import Direction, Family, Knowledge, Mechanism, Symptom
from paramedic.diagnosis.family.signature import Extent

SHIPPED = Path(__file__).with_name("families.toml")
_TABLES = ("symptom", "sign", "family")
Parsed = Mapping[str, Any]


@cache
def shipped_knowledge() -> Knowledge:
    """What Paramedic knows of faults by itself."""
    return read_knowledge(SHIPPED.read_text(encoding="utf-8"), SHIPPED.name)


def read_knowledge(text: str, origin: str) -> Knowledge:
    """Read a file's text; `origin` is what errors call the file. Raises KnowledgeError."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise KnowledgeError(f"families: {origin} is not TOML: {error}") from error
    for name in document.keys() | set(_TABLES):
        if name not in _TABLES or not isinstance(document.get(name), list):
            raise KnowledgeError(f"families: {origin}: needs [[{']], [['.join(_TABLES)}]] alone")
    symptoms = tuple(
        _symptom(_Entry(table, f"{origin}: [[{kind}]]"), is_sign=kind == "sign")
        for kind in ("symptom", "sign")
        for table in document[kind]
    )
    known = frozenset(symptom.name for symptom in symptoms)
    families = tuple(
        _family(_Entry(table, f"{origin}: [[family]]"), known) for table in document["family"]
    )
    _refuse_repetition(origin, [symptom.name for symptom in symptoms])
    _refuse_repetition(origin, [family.fault.value for family in families])
    return Knowledge(symptoms, families, hashlib.sha256(text.encode()).hexdigest()[:16])


class _Entry:
    """One table of the file, and where it stands."""

    def __init__(self, table: Parsed, place: str) -> None:
        self.table = table
        name = table.get("fault", table.get("name"))
        self.place = place if name is None else f"{place} {name}"

    def text(self, field: str) -> str:
        value = self.table.get(field)
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(field, value, "some text")
        return value

    def share(self, field: str) -> float:
        """A probability that is neither certain nor impossible, or a whole family's one."""
        return self._share(field, self.table.get(field))

    def shares(self, field: str) -> dict[str, float]:
        value = self.table.get(field)
        if not isinstance(value, dict):
            raise self.wrong(field, value, "names with a number each")
        return {name: self._share(f"{field}.{name}", one) for name, one in value.items()}

    def names(self, field: str) -> tuple[str, ...]:
        value = self.table.get(field)
        if not isinstance(value, list) or not value or not all(type(n) is str for n in value):
            raise self.wrong(field, value, "a list of metric ids")
        return tuple(value)

    def parts(self, field: str) -> Iterator[_Entry]:
        value = self.table.get(field)
        if not isinstance(value, list) or not value:
            raise self.wrong(field, value, "at least one table")
        yield from (_Entry(table, f"{self.place}: {field}") for table in value)

    def _share(self, field: str, value: object) -> float:
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0.0 < value <= 1.0:
            raise self.wrong(field, value, "a number above 0 and at most 1")
        return float(value)

    def wrong(self, field: str, value: object, wanted: str) -> KnowledgeError:
        return KnowledgeError(f"families: {self.place}: {field} = {value!r}: needs {wanted}")


def _symptom(entry: _Entry, *, is_sign: bool) -> Symptom:
    name, usual, why = entry.text("name"), entry.share("usual"), entry.text("why")
    if is_sign:
        return Symptom(name, usual, why)
    direction = entry.text("direction")
    if direction not in (Direction.HIGHER, Direction.LOWER):
        raise entry.wrong("direction", direction, "higher or lower")
    follows = entry.table.get("follows_others", False)
    if not isinstance(follows, bool):
        raise entry.wrong("follows_others", follows, "true or false")
    return Symptom(name, usual, why, Direction(direction), entry.names("metrics"), follows)


def _family(entry: _Entry, known: frozenset[str]) -> Family:
    fault = entry.text("fault")
    if fault not in frozenset(Fault):
        raise entry.wrong("fault", fault, "a fault family of verdicts")
    extents = entry.shares("extents")
    if extents.keys() != frozenset(Extent):
        raise entry.wrong("extents", extents, f"each of {', '.join(Extent)}")
    _require_whole(entry, "extents", extents.values())
    mechanisms = tuple(_mechanism(part, known) for part in entry.parts("mechanism"))
    _require_whole(entry, "mechanism.weight", [one.weight for one in mechanisms])
    by_extent = {Extent(name): share for name, share in extents.items()}
    return Family(Fault(fault), entry.share("share"), by_extent, mechanisms)


def _mechanism(entry: _Entry, known: frozenset[str]) -> Mechanism:
    shows, hurts, follows = entry.shares("shows"), 0.0, dict[str, float]()
    if "hurts" in entry.table:
        hurts, follows = entry.share("hurts"), entry.shares("follows")
    if unknown := sorted((shows.keys() | follows.keys()) - known):
        raise entry.wrong("shows", unknown[0], "names of symptoms and signs of this file")
    return Mechanism(
        entry.text("name"), entry.share("weight"), entry.text("why"), shows, hurts, follows
    )


def _require_whole(entry: _Entry, field: str, shares: Any) -> None:
    if not math.isclose(total := sum(shares), 1.0, abs_tol=1e-6):
        raise entry.wrong(field, round(total, 6), "shares that add up to 1")


def _refuse_repetition(origin: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise KnowledgeError(f"families: {origin}: {name} is there twice: keep one")
