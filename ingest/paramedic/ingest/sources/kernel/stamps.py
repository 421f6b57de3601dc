"""When a log line was written: the stamps of dmesg, /dev/kmsg, journalctl, syslog, other logs."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from paramedic.ingest.exposition.moments import is_moment

_MICROSECONDS = 1_000_000
_YEAR_SECONDS = 366 * 86400
_MONTHS = {
    name: number
    for number, name in enumerate(
        ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), 1
    )
}


@dataclass(frozen=True, slots=True)
class Era:
    """What is needed to make Unix seconds of a stamp that says less."""

    now_seconds: float
    """For lines without any stamp, and for the year of stamps without one."""
    boot_seconds: float | None = None
    """When the host was started (Unix seconds), for stamps that count from there."""
    zone: tzinfo = UTC
    """Of stamps that name none: the host's local time."""


_Reader = Callable[[re.Match[str], Era], float]


def _since_boot(match: re.Match[str], era: Era) -> float:
    if era.boot_seconds is None:
        return era.now_seconds
    return era.boot_seconds + float(match["s"])


def _record(match: re.Match[str], era: Era) -> float:
    if era.boot_seconds is None:
        return era.now_seconds
    return era.boot_seconds + int(match["us"]) / _MICROSECONDS


def _iso(match: re.Match[str], era: Era) -> float:
    moment = datetime.fromisoformat(match["iso"].replace(",", "."))
    return (moment if moment.tzinfo else moment.replace(tzinfo=era.zone)).timestamp()


def _dated(match: re.Match[str], era: Era) -> float:
    return _moment(match, int(match["y"]), era).timestamp()


def _without_year(match: re.Match[str], era: Era) -> float:
    """The newest year in which the moment does not lie in the future."""
    year = datetime.fromtimestamp(era.now_seconds, era.zone).year
    for candidate in (year + 1, year, year - 1, year - 2, year - 3, year - 4):
        try:
            seconds = _moment(match, candidate, era).timestamp()
        except ValueError:  # 29 February
            continue
        if seconds <= era.now_seconds + 86400:
            return seconds
    raise ValueError(match[0])


def _unix(match: re.Match[str], _era: Era) -> float:
    return float(match["unix"])


def _moment(match: re.Match[str], year: int, era: Era) -> datetime:
    hour, minute, second = (int(part) for part in match["t"].split(":"))
    month, day = _MONTHS[match["mon"]], int(match["d"])
    return datetime(year, month, day, hour, minute, second, tzinfo=era.zone)


_DECODED = r"(?:<\d+>|\w+\s*:\w+\s*:\s*)?"
_CLOCK = r"(?P<t>\d\d:\d\d:\d\d)(?:\.\d+)?"
_ISO = r"(?P<iso>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,6})?(?:Z|[+-]\d\d:?\d\d)?)"
_HOST = r"(?:\s+(?:UTC|[A-Z]{3,4}))?\s+\S+\s+\S+?:\s"
_SHAPES: tuple[tuple[re.Pattern[str], _Reader], ...] = tuple(
    (re.compile(pattern), reader)
    for pattern, reader in (
        (r"\d+,\d+,(?P<us>\d+),[^;]*;", _record),
        (_DECODED + r"\[\s*(?P<s>\d+\.\d+)\]", _since_boot),
        (_DECODED + rf"\[\w{{3}} (?P<mon>\w{{3}})\s+(?P<d>\d+) {_CLOCK} (?P<y>\d{{4}})\]", _dated),
        (rf"\[(?P<mon>\w{{3}})\s+(?P<d>\d+) (?P<y>\d{{4}}) {_CLOCK}\]", _dated),
        (_DECODED + rf"(?:\w{{3}} )?{_ISO}(?:{_HOST})?", _iso),
        (rf"(?P<mon>\w{{3}})\s+(?P<d>\d+) {_CLOCK}{_HOST}", _without_year),
        (rf"(?P<unix>\d{{9,10}}\.\d{{1,6}}){_HOST}", _unix),
    )
)


def written_at(line: str, era: Era) -> float:
    """When the line says it was written (Unix seconds); now, where it does not say.

    >>> written_at("[   12.5] NVRM: hello", Era(now_seconds=2000.0, boot_seconds=1000.0))
    1012.5
    """
    for pattern, reader in _SHAPES:
        match = pattern.match(line)
        if match is not None:
            try:
                seconds = reader(match, era)
            except (ValueError, KeyError, OverflowError):
                return era.now_seconds
            return seconds if is_moment(seconds) else era.now_seconds
    return era.now_seconds
