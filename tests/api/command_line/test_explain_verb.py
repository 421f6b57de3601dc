"""`explain` as it is called: what goes together, what it refuses, and verdicts from a run's API."""

from __future__ import annotations

import http.server
import io
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.verdicts import a_verdict
from diagnosis.flight_recorder.dumps import RANK_3_HANGS, written
from paramedic.api.command_line.dispatch import dispatch
from paramedic.api.command_line.surroundings import Surroundings
from paramedic.api.wiring.errors import InputError
from paramedic.api.wiring.explain_verdicts import life_in_file, verdict_at

ID = a_verdict().id
NO_NAME = "n" * 300
"""Nobody may look at a file of that name, not even who may read everything."""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "VERDICT|NODE, or --flight-recorder DIR"),
        (["node-1", "--flight-recorder", "d"], "is explained by itself: leave the rest out"),
        (["--flight-recorder", "nowhere"], "nowhere is no folder"),
        (["node-1"], "explain needs --recording FOLDER\n"),
        ([ID], "explain needs --recording FOLDER, --verdicts FILE or --url URL"),
        (["node-1", "--recording", "r", "--figure", "f.png"], "'node-1' is no verdict's id"),
        (["node-1", "--verdicts", "v"], "go with a verdict"),
        ([ID, "--recording", "r", "--at", "2026-01-01"], "--at goes with a node"),
        ([ID, "--verdicts", "v", "--figure", "f.png"], "name it with --recording FOLDER"),
        ([ID, "--recording", "r", "--figure", "f.gif"], "must end in .png or .svg"),
        ([ID, "--verdicts", "v", "--url", "http://h"], "not allowed with"),
        ([ID, "--recording", "nowhere"], "no such folder"),
        (["node-1", "--recording", "nowhere"], "no such folder"),
        (["node-1", "--recording", NO_NAME], f"{NO_NAME}/ring cannot be looked at: File name too"),
        (["--flight-recorder", NO_NAME], f"{NO_NAME} cannot be looked at: File name too long"),
        ([ID, "--verdicts", "nowhere.jsonl"], "cannot be read (No such file"),
        ([ID, "--url", "pigeon://h"], "--url pigeon://h: give an address such as"),
        ([ID, "--url", "http://127.0.0.1:99999"], "is the API there?"),
    ],
)
def test_what_cannot_work_is_one_line_and_exit_code_2(
    tmp_path: Path, arguments: list[str], words: str
) -> None:
    around = Surroundings(tmp_path, {}, io.StringIO(), err := io.StringIO())
    assert dispatch(["explain", *arguments], around) == 2
    assert err.getvalue().count("\n") == 1
    assert words in err.getvalue()


def test_dumps_are_explained_without_a_subject(tmp_path: Path) -> None:
    written(tmp_path / "dumps", RANK_3_HANGS)
    around = Surroundings(tmp_path, {}, out := io.StringIO(), io.StringIO())
    assert dispatch(["explain", "--flight-recorder", "dumps", "--format", "json"], around) == 0
    assert [one["rank"] for one in json.loads(out.getvalue())["ranks"]] == [3]


def test_a_file_gives_every_state_of_a_verdict_and_says_where_it_is_none(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    states = [a_verdict(summary=words).to_json() for words in ("one", "two")]
    path.write_bytes(b"\n\n".join([*states, a_verdict(id="X" * 26).to_json()]))
    assert [one.summary for one in life_in_file(path, ID)] == ["one", "two"]
    path.write_bytes(path.read_bytes() + b"\n{}")
    with pytest.raises(
        InputError, match=r"v\.jsonl, line 6: not a verdict: b'{}': 'id' is missing$"
    ):
        life_in_file(path, ID)
    path.write_text("")
    with pytest.raises(InputError, match=r"no verdict .*; there is none"):
        life_in_file(path, ID)


class _Api(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        answers = {f"/v1/verdicts/{ID}": (200, a_verdict().to_json()), "/v1/verdicts/Y": (503, b"")}
        code, body = answers.get(self.path, (404, b"{}"))
        self.send_response(code)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_words: object) -> None:
        """Nothing to be said."""


@pytest.fixture
def api() -> Iterator[str]:
    with http.server.HTTPServer(("127.0.0.1", 0), _Api) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def test_the_api_of_a_run_gives_a_verdict_or_says_which_there_are(api: str) -> None:
    assert verdict_at(api, ID) == a_verdict()
    with pytest.raises(InputError, match=r"no verdict Z; http://.*/v1/verdicts lists the newest"):
        verdict_at(api, "Z")
    with pytest.raises(InputError, match=r"answered 503 for verdict Y"):
        verdict_at(api, "Y")
