"""Dumps that are given to `explain` and to `replay`."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest

from diagnosis.flight_recorder.dumps import RANK_3_HANGS, written
from diagnosis.flight_recorder.test_named_by_dumps import STOPPED_AT, standing
from diagnosis.synthetic import JOB, START, node_name
from paramedic.api.settings.schema import Settings
from paramedic.api.wiring.errors import InputError
from paramedic.api.wiring.flight_recorder import explain_dumps
from paramedic.api.wiring.replay import ReplayRequest, replay
from paramedic.ingest.recordings.description import JobDescription, NodeRoles
from paramedic.ingest.recordings.writing import RecordingWriter

REFERENCE = os.environ.get("PARAMEDIC_REFERENCE_DATA")


def explained(folder: Path) -> list[int]:
    stdout = io.StringIO()
    assert explain_dumps(folder, stdout, io.StringIO(), as_json=True) == 0
    return [one["rank"] for one in json.loads(stdout.getvalue())["ranks"]]


def test_explain_says_who_holds_the_others_up(tmp_path: Path) -> None:
    stdout, stderr = io.StringIO(), io.StringIO()
    explain_dumps(written(tmp_path, RANK_3_HANGS), stdout, stderr, as_json=False)
    assert stdout.getvalue() == ""
    assert stderr.getvalue().splitlines() == [
        "rank 3 has not begun collective 50 of TENSOR, in which 1 rank waits", "(4 dumps)",
    ]  # fmt: skip
    assert explained(tmp_path) == [3]


def test_explain_says_when_nobody_does(tmp_path: Path) -> None:
    stderr = io.StringIO()
    explain_dumps(written(tmp_path, {}), io.StringIO(), stderr, as_json=False)
    assert stderr.getvalue().startswith("nobody holds the others up\n")


@pytest.mark.skipif(REFERENCE is None, reason="PARAMEDIC_REFERENCE_DATA names no folder")
@pytest.mark.parametrize(
    ("case", "ranks"),
    [("gpu_error_2nd", [9, 14]), ("lock_gil_1st", [9, 14]), ("lock_gil_2nd", [10, 15])],
)
def test_the_given_cases_stay_exact(case: str, ranks: list[int]) -> None:
    assert explained(Path(REFERENCE or "") / "flight_recorder" / case) == ranks


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recording") / "a"
    nodes = tuple(NodeRoles(node_name(rank), 0) for rank in range(4))
    with RecordingWriter(folder, JobDescription(JOB, 1.0, nodes)) as writer:
        for batch in standing():
            writer.append(batch)
    return folder


def replayed(recording: Path, dumps: Path | None) -> list[dict[str, object]]:
    stdout = io.StringIO()
    replay(ReplayRequest(recording, flight_recorder=dumps), Settings(), stdout, io.StringIO())
    return [json.loads(line) for line in stdout.getvalue().splitlines()]


def test_a_replay_with_dumps_names_who_hangs_and_one_without_nobody(
    recording: Path, tmp_path: Path
) -> None:
    dumps = written(tmp_path, RANK_3_HANGS, START + STOPPED_AT + 0.5)
    (verdict,) = replayed(recording, dumps)
    assert (verdict["fault"], verdict["node"]) == ("hang", node_name(3))
    assert replayed(recording, None) == []


def test_dumps_of_another_time_are_refused(recording: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="of another time: name the dumps of its own hang"):
        replayed(recording, written(tmp_path, RANK_3_HANGS, START + 5000))


def test_what_is_no_dump_is_told_in_a_line(recording: Path, tmp_path: Path) -> None:
    (tmp_path / "rank00.json").write_text("[]")
    with pytest.raises(InputError, match=r"^--flight-recorder: .*rank00\.json is no"):
        replayed(recording, tmp_path)
