"""`explain` over recordings, rings and verdicts that were told: the same reasons, and a figure."""

from __future__ import annotations

import io
import json
import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from api.wiring.test_replay import recorded, replayed
from diagnosis.synthetic import JOB, Scene, event, job_state, node_name
from paramedic.api.command_line.dispatch import dispatch
from paramedic.api.command_line.surroundings import Surroundings
from paramedic.diagnosis.contract import Verdict
from paramedic.ingest.contract import EventKind
from paramedic.ingest.recordings.cutting import Stretch, cut

SCENE = Scene(ranks=4, seconds=45, slow={2: 2.0}, slow_from=20)
UNKNOWN = "7Q0JT2M9ZB4N6W8XKCVFR1DH3A"


def called(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    out, err = io.StringIO(), io.StringIO()
    code = dispatch(["explain", *arguments], Surroundings(folder, {}, out, err))
    return code, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording `r`, what a replay says of it in `v.jsonl`, and a run whose ring holds it."""
    folder = tmp_path_factory.mktemp("explain")
    recording = recorded(folder / "r", SCENE, [job_state("training", 0)])
    (folder / "v.jsonl").write_text(replayed(recording))
    segment = folder / "run" / "ring" / JOB / "20260528T202000Z"
    segment.parent.mkdir(parents=True)
    shutil.copytree(recording, segment)
    return folder


@pytest.fixture(scope="module")
def told(place: Path) -> Verdict:
    return Verdict.from_json((place / "v.jsonl").read_bytes().splitlines()[0])


pytestmark = pytest.mark.long


@pytest.mark.parametrize("source", ["r", "run"])
def test_a_verdict_is_found_by_replaying_and_drawn(place: Path, told: Verdict, source: str) -> None:
    code, out, err = called(place, told.id, "--recording", source, "--figure", f"{source}.svg")
    assert (code, out) == (0, "")
    assert told.summary in err
    assert "considered when it was decided" in err
    assert "rank 2 of node-0002, compute:" in err
    drawn = (place / f"{source}.svg").read_text()
    for words in (node_name(2), "evidence began", "decided", "compute [ms], 3 peers"):
        assert words in drawn


def test_a_verdict_that_was_told_is_explained_as_it_was_told(place: Path, told: Verdict) -> None:
    alone, beside = (
        json.loads(called(place, told.id, "--verdicts", "v.jsonl", "--format", "json", *more)[1])
        for more in ([], ["--recording", "run"])
    )
    assert alone["verdict"] == beside["verdict"] == told.to_dict()
    assert alone["considered"] == []
    assert {"compute_seconds", "known_errors"} <= {one["kind"] for one in beside["considered"]}


def test_what_a_replay_does_not_give_is_explained_without_what_else_was_considered(
    place: Path, told: Verdict
) -> None:
    other = told.to_dict() | {"node": node_name(1), "id": UNKNOWN}
    (place / "other.jsonl").write_text(json.dumps(other))
    code, _out, err = called(place, UNKNOWN, "--verdicts", "other.jsonl", "--recording", "r")
    assert code == 0
    assert "a replay does not give this verdict" in err
    assert "evidence, each line against" in err
    assert "considered when" not in err


def test_a_node_is_explained_at_a_moment_and_at_the_end(place: Path, told: Verdict) -> None:
    early = told.onset.replace(second=told.onset.second + 4).isoformat()
    for source in ("r", "run"):
        _code, out, err = called(place, node_name(2), "--recording", source, "--at", early)
        assert out == ""
        assert "no verdict about it is open: the strongest evidence, compute of rank 2" in err
    found = json.loads(called(place, node_name(2), "--recording", "r", "--format", "json")[1])
    assert [one["id"] for one in found["open"]] == [told.id]
    strongest = max(found["standing"], key=lambda one: (one["evidence"] or 0) / (one["level"] or 1))
    assert (strongest["kind"], strongest["index"]) == ("compute_seconds", 2)
    assert found["at"] == "2026-05-28T20:27:25Z"
    assert found["holds"] == []
    assert all({"holds", "note"} <= one.keys() for one in found["standing"])


def test_a_node_under_maintenance_is_explained_by_that(tmp_path: Path) -> None:
    details = {"id": "m1", "change": "declared", "reason": "a new fan"}
    declared = replace(event(EventKind.MAINTENANCE, 10, node_name(2)), details=details)
    recorded(tmp_path / "r", SCENE, [job_state("training", 0), declared])
    _code, _out, err = called(tmp_path, node_name(2), "--recording", "r")
    assert "nothing is said of it now: maintenance is declared for it until somebody says" in err
    assert "what comes of it is put aside meanwhile" in err
    found = json.loads(called(tmp_path, node_name(2), "--recording", "r", "--format", "json")[1])
    (hold,) = found["holds"]
    assert hold["why"].endswith("(a new fan)")
    assert found["open"] == []
    other = json.loads(called(tmp_path, node_name(1), "--recording", "r", "--format", "json")[1])
    assert other["holds"] == []


SPAN = "it begins at 2026-05-28T20:26:40Z and ends at 2026-05-28T20:27:25Z: name a moment"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([UNKNOWN, "--recording", "r"], f"its replay gives no verdict {UNKNOWN}; there are "),
        ([UNKNOWN, "--verdicts", "v.jsonl"], f"v.jsonl: no verdict {UNKNOWN}; there are "),
        (["node-9", "--recording", "r"], "no telemetry of a node 'node-9': it has node-0000, "),
        (["node-0001", "--recording", "r", "--at", "2026-01-01"], "begins only at 2026-05-28T20:2"),
        (["node-0001", "--recording", "r", "--at", "2026-05-29"], f"has ended by then: {SPAN}"),
        (["node-0001", "--recording", "run", "--at", "2026-05-29"], "holds no telemetry from"),
        (["node-0001", "--recording", "run", "--job", "x"], "holds nothing of job x"),
    ],
)
def test_what_is_not_there_is_one_line_that_says_what_is(
    place: Path, arguments: list[str], words: str
) -> None:
    code, out, err = called(place, *arguments)
    assert (code, out) == (2, "")
    assert words in err.splitlines()[-1]


def test_the_end_of_a_node_is_the_same_as_of_a_recording_that_ends_there(
    place: Path, told: Verdict
) -> None:
    """What arrived after the moment that is asked about has no part in the answer."""
    cut_at = told.onset + timedelta(seconds=5)
    cut(place / "r", place / "short", Stretch(last=cut_at), None)
    at = (cut_at + timedelta(seconds=1)).isoformat()
    asked = ("--recording", "r", "--at", at, "--format", "json")
    whole = json.loads(called(place, node_name(2), *asked)[1])
    short = json.loads(called(place, node_name(2), "--recording", "short", "--format", "json")[1])
    assert whole["standing"] == short["standing"]


def test_only_a_figure_is_drawn_without_a_replay(place: Path, told: Verdict) -> None:
    asked = ("--verdicts", "v.jsonl", "--recording", "run", "--figure", "only.PNG")
    code, out, err = called(place, told.id, *asked, "--figure-only")
    assert (code, out) == (0, "")
    assert err.splitlines() == [f"paramedic: the figure is in {place / 'only.PNG'}"]
    assert (place / "only.PNG").read_bytes().startswith(b"\x89PNG")


def test_a_figure_that_cannot_be_written_is_one_line(place: Path, told: Verdict) -> None:
    asked = ("--verdicts", "v.jsonl", "--recording", "r", "--figure", "nowhere/f.svg")
    code, _out, err = called(place, told.id, *asked, "--figure-only")
    assert code == 2
    assert "cannot be written (No such file or directory), and nothing of it is left: name" in err


def test_a_place_for_the_figure_is_looked_for_before_a_replay(place: Path) -> None:
    (place / "folder.svg").mkdir(exist_ok=True)
    for figure, why in (("nowhere/f.svg", "No such file"), ("folder.svg", "Is a directory")):
        code, _out, err = called(place, UNKNOWN, "--recording", "r", "--figure", figure)
        assert code == 2
        assert err.startswith(f"paramedic: --figure {place / figure} cannot be written ({why}")


def test_settings_move_what_would_decide(place: Path) -> None:
    def level(*settings: str) -> float:
        asked = ("--recording", "r", "--format", "json", *settings)
        standings = json.loads(called(place, node_name(2), *asked)[1])["standing"]
        return next(float(one["level"]) for one in standings if one["kind"] == "heartbeat")

    assert level() == 10.0
    assert level("--set", "detection.heartbeat_timeout_seconds=20") == 20.0
