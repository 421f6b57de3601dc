"""Figures for the API are drawn in a process of their own, one at a time, and kept."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from api.wiring.test_replay import recorded, replayed
from diagnosis.synthetic import JOB, Scene, job_state, node_name
from paramedic.api.rest.state import NoFigureError
from paramedic.api.wiring.figures import DrawnApart, figures_of
from paramedic.diagnosis.contract import Verdict


@dataclass
class Studio:
    """Draws at once, or fails with these words; remembers what it was asked."""

    failure: str | None = None
    asked: list[Sequence[str]] = field(default_factory=list)

    def run(
        self, command: Sequence[str], _environment: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        self.asked.append(command)
        if self.failure == "late":
            raise subprocess.TimeoutExpired(command, 60.0)
        Path(command[-1]).write_text(f"drawing {len(self.asked)}")
        return subprocess.CompletedProcess(command, int(bool(self.failure)), "", self.failure)


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    (tmp_path / "ring").mkdir()
    return tmp_path


def test_a_figure_is_drawn_once_and_anew_when_the_verdict_changes(run_folder: Path) -> None:
    studio = Studio()
    figures = DrawnApart(run_folder, {}, studio.run)
    first = [figures.draw(b"{}", "V1", form) for form in ("svg", "png", "svg")]
    assert first == [b"drawing 1", b"drawing 2", b"drawing 1"]
    assert figures.draw(b'{"status": "resolved"}', "V1", "svg") == b"drawing 3"
    for number in range(40):
        figures.draw(str(number).encode(), "V1", "svg")
    assert figures.draw(b"{}", "V1", "svg") == b"drawing 44"


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        ("paramedic: a\nparamedic: ring holds no telemetry\n", "drawn: ring holds no telemetry"),
        ("late", "not drawn within 60 s"),
    ],
)
def test_what_went_wrong_is_told_in_a_line(run_folder: Path, failure: str, words: str) -> None:
    with pytest.raises(NoFigureError, match=words):
        DrawnApart(run_folder, {}, Studio(failure).run).draw(b"{}", "V1", "svg")


def test_a_run_that_keeps_no_telemetry_says_so(tmp_path: Path) -> None:
    with pytest.raises(NoFigureError, match=r"recording\.ring_bytes"):
        figures_of(tmp_path, {}).draw(b"{}", "V1", "svg")


@pytest.mark.connected
def test_a_real_process_draws_from_a_ring(run_folder: Path) -> None:
    scene = Scene(ranks=4, seconds=45, slow={2: 2.0}, slow_from=20)
    recording = recorded(run_folder / "r", scene, [job_state("training", 0)])
    shutil.copytree(recording, run_folder / "ring" / JOB / "20260528T202000Z")
    (line, *_) = replayed(recording).encode().splitlines()
    drawn = figures_of(run_folder, {}).draw(line, Verdict.from_json(line).id, "svg")
    assert node_name(2).encode() in drawn
    assert b"evidence began" in drawn
