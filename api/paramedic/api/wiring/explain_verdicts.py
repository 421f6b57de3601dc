"""Finds a verdict by its id: in a file of verdicts, or at the API of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from urllib.parse import quote, urlsplit

from paramedic.api.wiring.errors import InputError
from paramedic.diagnosis.contract import Status, Verdict, VerdictFormatError
from paramedic.ingest.some_names import some_names

_TIMEOUT_SECONDS = 10.0
_MOST_BYTES = 1 << 20


def life_in_file(path: Path, verdict_id: str) -> tuple[Verdict, ...]:
    """Every state of the verdict in a file with a verdict a line, as `replay` prints them.

    Raises InputError when the file cannot be read, or does not hold it.
    """
    verdicts = list(_verdicts_of(path))
    life = tuple(one for one in verdicts if one.id == verdict_id)
    if not life:
        raise InputError(f"{path}: no verdict {verdict_id}; {ids_of(verdicts)}")
    return life


def ids_of(verdicts: Sequence[Verdict]) -> str:
    """Which ones there are instead, for an error."""
    ids = dict.fromkeys(one.id for one in verdicts)
    return f"there are {some_names(ids)}" if ids else "there is none"


def apart_from(life: Sequence[Verdict], verdict_id: str) -> Callable[[Verdict], float | None]:
    """How far from the one that is looked for a verdict of a replay fires (s); None: it is another.

    Of a cut it may come a little sooner or later, and then under another id; where others were told
    of the same machine, the nearest is the one.
    """
    if not life:
        return lambda one: 0.0 if one.id == verdict_id else None
    known = life[0]
    decided = known.first_detected_at or known.detected_at
    subject = (known.scope, known.node, known.gpu, known.members, known.tier)

    def apart(one: Verdict) -> float | None:
        if one.id == known.id:
            return 0.0
        is_alike = (one.scope, one.node, one.gpu, one.members, one.tier) == subject
        is_in_time = known.onset <= one.detected_at <= life[-1].detected_at
        if one.status is not Status.FIRING or not (is_alike and is_in_time):
            return None
        return abs((one.detected_at - decided).total_seconds())

    return apart


def verdict_at(url: str, verdict_id: str) -> Verdict:
    """The verdict's newest state, as the API has it. Raises InputError."""
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    address = f"{url.rstrip('/')}/v1/verdicts/{quote(verdict_id)}"
    try:
        if urlsplit(address).scheme not in ("http", "https"):
            raise InputError(f"--url {url}: give an address such as http://127.0.0.1:8370")
        with urlopen(Request(address), timeout=_TIMEOUT_SECONDS) as answer:
            return Verdict.from_json(answer.read(_MOST_BYTES))
    except HTTPError as error:
        raise InputError(_refused(url, verdict_id, error.code)) from error
    except (OSError, HTTPException, ValueError) as error:
        raise InputError(f"{address}: cannot be read ({error}): is the API there?") from error


def _refused(url: str, verdict_id: str, code: int) -> str:
    if code == HTTPStatus.NOT_FOUND:
        return f"{url}: no verdict {verdict_id}; {url.rstrip('/')}/v1/verdicts lists the newest"
    return f"{url}: answered {code} for verdict {verdict_id}"


def _verdicts_of(path: Path) -> Iterator[Verdict]:
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}): name a file that `paramedic replay` wrote"
        ) from error
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield _verdict_of(line, path, number)


def _verdict_of(line: bytes, path: Path, number: int) -> Verdict:
    try:
        return Verdict.from_json(line)
    except VerdictFormatError as error:
        raise InputError(f"{path}, line {number}: {error}") from error
