"""Declares, lists and ends maintenance at the API of a run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from http.client import HTTPException
from typing import Any, TextIO
from urllib.parse import quote, urlsplit

from paramedic.api.wiring.errors import InputError
from paramedic.api.wiring.telling import say, tell, tell_lines
from paramedic.ingest.contract import format_time

_TIMEOUT_SECONDS = 10.0
_MOST_BYTES = 1 << 24
_COLUMNS = "{:<20}  {:<7}  {:<20}  {:<20}  {:<24}  {}"
_HEADINGS = ("id", "", "begins", "ends", "of", "reason")


@dataclass(frozen=True, slots=True)
class MaintenanceCall:
    """What is asked of the API."""

    action: str
    """`add`, `list` or `end`."""
    url: str
    identity: str | None = None
    nodes: tuple[str, ...] = ()
    job: str | None = None
    begins: datetime | None = None
    ends: datetime | None = None
    reason: str | None = None
    with_over: bool = False
    as_json: bool = False


def maintenance(call: MaintenanceCall, stdout: TextIO, stderr: TextIO) -> int:
    """Ask, and show what is answered. Raises InputError when the API is not there or refuses."""
    answer = _ask(call)
    if call.as_json:
        tell(stdout, f"{json.dumps(answer)}\n")
        return 0
    found = answer["maintenance"] if call.action == "list" else [answer]
    if not found:
        say(stderr, "no maintenance is planned, and none lasts")
        return 0
    tell_lines(stderr, (_COLUMNS.format(*_HEADINGS), *map(_row, found)))
    return 0


def _ask(call: MaintenanceCall) -> Any:
    if call.action == "list":
        return _request(call.url, "GET", f"?over={str(call.with_over).lower()}")
    if call.action == "end":
        return _request(call.url, "DELETE", f"/{quote(call.identity or '', safe='')}")
    assert call.begins is not None
    assert call.ends is not None
    body = {
        "nodes": list(call.nodes),
        "job": call.job,
        "begins": format_time(call.begins),
        "ends": format_time(call.ends),
        "reason": call.reason,
    }
    return _request(call.url, "POST", "", json.dumps(body).encode())


def _request(url: str, method: str, tail: str, body: bytes | None = None) -> Any:
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    address = f"{url.rstrip('/')}/v1/maintenance{tail}"
    if urlsplit(address).scheme not in ("http", "https"):
        raise InputError(f"--url {url}: give an address such as http://127.0.0.1:8370")
    headers = {"content-type": "application/json"}
    asked = Request(address, data=body, headers=headers, method=method)
    try:
        with urlopen(asked, timeout=_TIMEOUT_SECONDS) as answer:
            return json.loads(answer.read(_MOST_BYTES))
    except HTTPError as error:
        with error:
            raise InputError(f"{url}: {_detail(error)}") from error
    except (OSError, HTTPException, ValueError) as error:
        raise InputError(
            f"{url}: no answer ({error}): is a run, `up` or `remediate --serve` there? Name its"
            " address with --url"
        ) from error


def _detail(error: Any) -> str:
    """What the problem document says, or the bare status."""
    try:
        return str(json.loads(error.read(_MOST_BYTES))["detail"])
    except (OSError, HTTPException, ValueError, KeyError, TypeError):
        return f"answered {error.code}"


def _row(one: dict[str, Any]) -> str:
    nodes = ", ".join(one["nodes"])
    within = f"{nodes} of {one['job']}" if nodes and one["job"] else nodes or f"job {one['job']}"
    ends = one["ended_at"] or one["ends"]
    return _COLUMNS.format(one["id"], one["phase"], one["begins"], ends, within, one["reason"])
