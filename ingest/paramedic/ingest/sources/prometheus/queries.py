"""Queries for raw samples: names grouped so that a URL stays short, instances in parts."""

from __future__ import annotations

import re
from collections.abc import Sequence

_PATTERN_LIMIT_CHARACTERS = 4000
_MILLISECONDS = 1000
_SPECIAL = re.compile(
    r"[\\.+*?()|\[\]{}^$]"
)  # of RE2, which knows fewer escapes than re.escape makes


def selectors(names: Sequence[str], matchers: str) -> tuple[str, ...]:
    """Selectors that together match all the names, with the further matchers in each.

    >>> selectors(["DCGM_.*", "node_load1"], 'cluster="a"')
    ('{__name__=~"DCGM_.*|node_load1",cluster="a"}',)
    """
    groups: list[list[str]] = [[]]
    length = 0
    for name in names:
        length += len(name) + 1
        if length > _PATTERN_LIMIT_CHARACTERS and groups[-1]:
            groups.append([])
            length = len(name) + 1
        groups[-1].append(name)
    extra = f",{matchers.strip().strip(',')}" if matchers.strip() else ""
    return tuple(f"{{__name__=~{quoted('|'.join(group))}{extra}}}" for group in groups)


def parts_of_instances(instances: Sequence[str], parts: int) -> tuple[str, ...]:
    """Matchers that cut all series into that many parts and a rest; `("",)` for one part.

    The rest is what has another instance, or none: nothing may be lost because it is new.
    """
    if parts <= 1 or len(instances) < 2:
        return ("",)
    ordered = sorted(instances)
    share = -(-len(ordered) // parts)
    groups = [ordered[at : at + share] for at in range(0, len(ordered), share)]
    known = [f"instance=~{alternatives(group)}" for group in groups]
    return (*known, f"instance!~{alternatives(ordered)}")


def with_matcher(selector: str, matcher: str) -> str:
    """The selector with one more matcher."""
    return f"{selector[:-1]},{matcher}}}" if matcher else selector


def over(selector: str, seconds: float) -> str:
    """The selector as a query for the raw samples of a time span, which ends where it is asked.

    Raw samples keep their own times, end where the series ends, and are not carried on for five
    minutes as an instant query's values are.
    """
    return f"{selector}[{max(1, round(seconds * _MILLISECONDS))}ms]"


def quoted(text: str) -> str:
    """The text as a PromQL string."""
    escaped = text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return f'"{escaped}"'


def alternatives(values: Sequence[str]) -> str:
    """A PromQL string with a pattern of exactly these values."""
    return quoted("|".join(_SPECIAL.sub(r"\\\g<0>", value) for value in values))
