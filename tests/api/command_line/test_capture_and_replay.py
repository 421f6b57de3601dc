"""`capture` and `replay` as they are called: what they take, print and refuse."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from ingest.recordings.recorded import describe, gpu_row, write_rows
from paramedic.api.command_line.dispatch import dispatch
from paramedic.api.command_line.surroundings import Surroundings


def called(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    around = Surroundings(folder, {}, io.StringIO(), io.StringIO())
    code = dispatch(list(arguments), around)
    assert isinstance(around.stdout, io.StringIO)
    assert isinstance(around.stderr, io.StringIO)
    return code, around.stdout.getvalue(), around.stderr.getvalue()


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    write_rows(describe(tmp_path / "r"), "gpu", [gpu_row(second) for second in range(9)])
    return tmp_path / "r"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["replay"], "FOLDER"),
        (["replay", "nowhere"], "nowhere: no such folder: name the folder of a recording"),
        (["replay", "."], "is no recording: it holds no job.json"),
        (["replay", "r", "--speed", "0"], "'0' is neither max nor a number above 0"),
        (["replay", "r", "--speed", "fast"], "'fast' is neither max nor a number above 0"),
        (["replay", "r", "--format", "xml"], "invalid choice: 'xml'"),
        (["replay", "r", "--bus", "memory:", "--format", "table"], "has nothing to show"),
        (["replay", "r", "--bus", "pigeon:"], "bus address 'pigeon:': unknown kind"),
        (["capture", "--bus", "memory:"], "--out"),
        (["capture", "--out", "x"], "kafka://HOST:PORT"),
        (["capture", "--out", "r", "--bus", "unix:/none"], "holds a recording already"),
        (["capture", "--out", "r/gpu.parquet", "--bus", "unix:/none"], "cannot be written"),
        (["capture", "--out", "r", "--ring", "--bus", "unix:/none"], "holds a recording already"),
        (["capture", "--out", "x", "--seconds", "-1"], "'-1' is no number above 0"),
        (["capture", "--out", "x", "--from", "noon"], "'noon' is no time such as 2026-"),
        (["capture", "--out", "x", "--to", "2026-01-01"], "--from and --to go with --cut"),
        (["capture", "--out", "x", "--job", "a", "--every-job"], "not allowed with"),
        (["capture", "--out", "x", "--ring", "--job", "a"], "--ring keeps every job"),
        (["capture", "--out", "x", "--cut", "r", "--from", "2030-01-01"],
         "r holds no telemetry from 2030-01-01T00:00:00Z; it holds from 2026-01-01T00:00:00Z to "),
        (["capture", "--out", "x", "--cut", "r", "--from", "2026-01-02", "--to", "2026-01-01"],
         "--from 2026-01-02T00:00:00+00:00 is later than --to 2026-01-01T00:00:00+00:00: exchange"),
        (["capture", "--out", "x", "--cut", "r", "--job", "gpt"],
         "r holds nothing of job gpt; it holds llama-7b"),
        (["capture", "--out", "r", "--cut", "r"], "holds a recording already"),
        (["decode", ""], "nothing is named: name a file, an address, or - for standard input"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_one_line_and_exit_code_2(
    recording: Path, arguments: list[str], words: str
) -> None:
    code, out, err = called(recording.parent, *arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert words in err


def test_a_healthy_recording_says_nothing_on_standard_output(recording: Path) -> None:
    code, out, err = called(recording.parent, "replay", "r")
    assert (code, out) == (0, "")
    assert err.startswith("paramedic: 0 verdicts in 9 s of llama-7b; replayed in")


def test_a_ring_is_told_from_a_recording(recording: Path) -> None:
    recording.rename(recording.parent / "s")
    (recording.parent / "ring" / "llama-7b").mkdir(parents=True)
    (recording.parent / "s").rename(recording.parent / "ring" / "llama-7b" / "20260101T000000Z")
    code, _out, err = called(recording.parent, "replay", "ring")
    assert code == 2
    assert "it is a ring; cut a recording out of it with capture --cut" in err


def test_a_cut_says_what_it_holds(recording: Path) -> None:
    first, last = "2026-01-01T00:00:02", "2026-01-01T01:00:04+01:00"
    code, out, _err = called(
        recording.parent, "capture", "--cut", "r", "--from", first, "--to", last, "--out", "c"
    )
    assert code == 0
    assert json.loads(out) == {
        "recording": str(recording.parent / "c"), "job": "llama-7b", "rows": 3, "events": 0
    }  # fmt: skip
    assert called(recording.parent, "replay", "c")[2].startswith("paramedic: 0 verdicts in 3 s of")


def test_a_recording_goes_onto_a_bus(recording: Path) -> None:
    code, out, err = called(recording.parent, "replay", "r", "--bus", "memory:")
    assert (code, out, err) == (0, "", "paramedic: 9 messages of llama-7b published\n")
