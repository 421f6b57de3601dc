"""`paramedic maintenance` against a server that speaks as the API does."""

from __future__ import annotations

import io
import json
import threading
from argparse import ArgumentTypeError
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from paramedic.api.command_line.dispatch import dispatch
from paramedic.api.command_line.maintenance_verb import span
from paramedic.api.command_line.surroundings import Surroundings
from paramedic.ingest.contract import parse_time

ONE = {
    "id": "mnt-1", "nodes": ["node-0007"], "job": None, "begins": "2026-01-01T12:00:00Z",
    "ends": "2026-01-01T14:00:00Z", "reason": "new optics", "ended_at": None, "phase": "lasting",
}  # fmt: skip


class Api(BaseHTTPRequestHandler):
    """Answers what a test has laid out, and keeps what it was asked."""

    status: ClassVar[int] = 200
    answer: ClassVar[bytes] = b""
    asked: ClassVar[list[tuple[str, str, Any]]] = []

    def _answer(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        self.asked.append((self.command, self.path, body))
        self.send_response(self.status)
        self.send_header("content-length", str(len(self.answer)))
        self.end_headers()
        self.wfile.write(self.answer)

    do_GET = do_POST = do_DELETE = _answer  # noqa: N815 (the names that the library calls)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Api) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def _nothing_asked_yet() -> None:
    Api.asked.clear()
    Api.status = 200


def called(*arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    out, err = io.StringIO(), io.StringIO()
    around = Surroundings(Path("/nonexistent"), {}, out, err)
    return dispatch(["maintenance", *arguments], around), out.getvalue(), err.getvalue()


ADD = ("add", "--nodes", "node-0007,node-0008", "--for", "2h", "--reason", "new optics")


def test_nodes_are_declared_for_so_long(url: str) -> None:
    Api.status, Api.answer = 201, json.dumps(ONE).encode()
    code, out, err = called(*ADD, "--nodes", "node-0009", "--url", url)
    assert (code, out) == (0, "")
    assert "mnt-1" in err
    ((method, path, body),) = Api.asked
    assert (method, path) == ("POST", "/v1/maintenance")
    assert body["nodes"] == ["node-0007", "node-0008", "node-0009"]
    assert parse_time(body["ends"]) - parse_time(body["begins"]) == timedelta(hours=2)
    assert (body["job"], body["reason"]) == (None, "new optics")


def test_a_job_is_declared_from_one_time_to_another_and_told_to_scripts(url: str) -> None:
    Api.answer = json.dumps(ONE).encode()
    times = ("--begins", "2026-01-01T22:00:00Z", "--ends", "2026-01-02T02:00:00+01:00")
    arguments = ("add", "--job", "llama", *times, "--reason", "x", "--format", "json")
    code, out, _err = called(*arguments, "--url", url)
    assert (code, json.loads(out)) == (0, ONE)
    body = Api.asked[0][2]
    assert (body["begins"], body["ends"]) == ("2026-01-01T22:00:00Z", "2026-01-02T01:00:00Z")


def test_what_is_planned_is_listed(url: str) -> None:
    job = {**ONE, "id": "mnt-2", "nodes": [], "job": "llama", "ended_at": "2026-01-01T13:00:00Z"}
    within = {**job, "nodes": ["n1", "n2"]}
    Api.answer = json.dumps({"maintenance": [ONE, job, within]}).encode()
    _code, _out, err = called("list", "--all", "--url", url)
    assert Api.asked == [("GET", "/v1/maintenance?over=true", None)]
    for said in ("mnt-1", "job llama", "2026-01-01T13:00:00Z", "n1, n2 of llama"):
        assert said in err
    Api.answer = b'{"maintenance": []}'
    assert "none lasts" in called("list", "--url", url)[2]


def test_one_is_ended(url: str) -> None:
    Api.answer = json.dumps(ONE).encode()
    assert called("end", "mnt-1/..", "--url", f"{url}/")[0] == 0
    assert Api.asked == [("DELETE", "/v1/maintenance/mnt-1%2F..", None)]


def test_a_refusal_is_told_in_the_words_of_the_api(url: str) -> None:
    Api.status, Api.answer = 404, b'{"detail": "no maintenance mnt-1"}'
    assert called("end", "mnt-1", "--url", url) == (
        2,
        "",
        f"paramedic: {url}: no maintenance mnt-1\n",
    )
    Api.status, Api.answer = 500, b"<html>"
    assert "answered 500" in called("list", "--url", url)[2]
    Api.status = 200
    assert "no answer" in called("list", "--url", url)[2]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("add", "--for", "2h", "--reason", "x"), "--nodes"),
        (("add", "--nodes", "a", "--reason", "x"), "--ends"),
        (("add", "--nodes", "a", "--for", "2h"), "--reason"),
        (("add", "--nodes", "a", "--for", "2h", "--ends", "2026-01-01"), "not allowed"),
        (("add", "--nodes", "a", "--for", "soon", "--reason", "x"), "'soon' is no length of time"),
        (("end",), "needs the ID"),
        (("list", "mnt-1"), "needs the ID"),
        (("list", "--url", "host:1"), "give an address"),
        (("list", "--port", "1"), "is a run, `up`"),
        (("list", "--host", "::1", "--port", "1"), "http://[::1]:1"),
    ],
)
def test_what_cannot_be_asked_is_one_line(arguments: tuple[str, ...], says: str) -> None:
    code, out, err = called(*arguments)
    assert (code, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1


def test_lengths_of_time_add_up() -> None:
    assert span("1d12h") == timedelta(days=1.5)
    assert span("90m") == timedelta(hours=1.5)
    for wrong in ("", "2", "h", "2h ", "-2h", "2.5h"):
        with pytest.raises(ArgumentTypeError):
            span(wrong)
