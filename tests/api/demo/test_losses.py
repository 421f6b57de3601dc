"""Losses are read exactly, and half a line of a killed process says nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.api.demo.errors import DemoRunError
from paramedic.api.demo.losses import newest_written_step, read_curve


def line(step: int, rank: int, loss: float) -> str:
    return json.dumps({"step": step, "rank": rank, "loss": loss.hex()}) + "\n"


def test_files_of_all_processes_make_one_curve(tmp_path: Path) -> None:
    (tmp_path / "node-0000.jsonl").write_text(line(0, 0, 5.5) + line(1, 0, 5.25))
    (tmp_path / "node-0004.jsonl").write_text(line(1, 0, 5.25) + line(1, 1, 4.0))
    (tmp_path / "notes.txt").write_text("other")
    assert read_curve(tmp_path) == {
        (0, 0): [(5.5).hex()],
        (1, 0): [(5.25).hex(), (5.25).hex()],
        (1, 1): [(4.0).hex()],
    }
    assert newest_written_step(tmp_path) == 1


def test_nothing_written_is_an_empty_curve(tmp_path: Path) -> None:
    (tmp_path / "node-0000.jsonl").touch()
    assert read_curve(tmp_path) == {}
    assert newest_written_step(tmp_path) is None
    assert read_curve(tmp_path / "none") == {}


def test_half_a_line_at_the_end_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "node-0000.jsonl").write_text(line(0, 0, 1.0) + line(1, 0, 2.0)[:-8])
    assert list(read_curve(tmp_path)) == [(0, 0)]
    assert newest_written_step(tmp_path) == 0


@pytest.mark.parametrize(
    "text",
    ["{}\n", "3\n", '{"step": 1, "rank": 0, "loss": "much"}\n', "\n", "[" * 100_000 + "\n"],
    ids=lambda text: text[:20],
)
def test_something_else_in_a_file_is_refused_by_name_and_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "node-0000.jsonl").write_text(line(0, 0, 1.0) + text)
    with pytest.raises(DemoRunError, match=r"node-0000\.jsonl, line 2"):
        read_curve(tmp_path)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_loss_is_read_bit_for_bit(loss: float) -> None:
    written = json.loads(line(0, 0, loss))["loss"]
    assert float.fromhex(written).hex() == written
