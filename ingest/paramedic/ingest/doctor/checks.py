"""What doctor says: checked lines, and what to paste where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from paramedic.ingest.some_names import some_names


class Level(StrEnum):
    """How a check came out."""

    OK = "ok"
    WARNING = "warning"
    """Something would be missed, or take longer; what is promised holds all the same."""
    MISSING = "missing"
    """Detection within a minute would not hold."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """What to change: lines as they are pasted."""

    where: str
    """The file or the arguments they belong into, for people."""
    lines: tuple[str, ...]

    def to_dict(self) -> dict[str, object]:
        """For scripts."""
        return {"where": self.where, "lines": list(self.lines)}


@dataclass(frozen=True, slots=True)
class Check:
    """One checked line."""

    subject: str
    level: Level
    text: str
    remedies: tuple[Remedy, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """For scripts."""
        return {
            "subject": self.subject,
            "level": self.level.value,
            "text": self.text,
            "remedies": [remedy.to_dict() for remedy in self.remedies],
        }


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that was found, the summary first."""

    facts: Mapping[str, object]
    """What was looked at, as numbers and lists, for scripts."""
    seen: str
    """The same in one line for people."""
    checks: tuple[Check, ...]

    @property
    def holds(self) -> bool:
        """Whether detection within a minute would hold."""
        return not self.of(Level.MISSING)

    def of(self, level: Level) -> tuple[Check, ...]:
        """The checks that came out like this."""
        return tuple(check for check in self.checks if check.level is level)

    def to_dict(self) -> dict[str, object]:
        """For scripts."""
        return {
            "holds": self.holds,
            "summary": dict(self.facts),
            "checks": [check.to_dict() for check in self.checks],
        }


def named(names: Iterable[str], shown: int = 3) -> str:
    """A few names in their order, and how many are left out.

    >>> named(["b", "a"]), named(["a", "b", "c", "d"])
    ('a, b', 'a, b, c and 1 more')
    """
    return some_names(sorted(names), shown)


def counted(number: int, what: str) -> str:
    """A number with its noun.

    >>> counted(1, "host"), counted(8, "GPU")
    ('1 host', '8 GPUs')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"
