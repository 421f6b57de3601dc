"""`paramedic bench`: mistakes in one line, what is told where, and progress."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from paramedic.api.command_line.dispatch import dispatch
from paramedic.api.command_line.surroundings import Surroundings
from paramedic.api.wiring.bench_progress import LineBar, open_bar


def told(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    out, err = io.StringIO(), io.StringIO()
    code = dispatch(["bench", *arguments], Surroundings(folder, {}, out, err))
    return code, out.getvalue(), err.getvalue()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "required: what"),
        (["gossip"], "invalid choice: 'gossip'"),
        (["detection", "--quick", "--full"], "not allowed with"),
        (["detection", "--seed", "-1"], "'-1': give a whole number from 0 to 99999999"),
        (["soak", "--seed", "100000000"], "'100000000': give a whole number from 0 to 99999999"),
        (["verdicts", "--number", "-3"], "'-3': give a whole number from 0 to 1000000"),
        (["verdicts", "--number", "3.5"], "'3.5' is no whole number"),
        (["detection", "--workers", "0"], "'0': give a whole number from 1 to 1024"),
        (["detection", "--detectors", "minder,"], "has an empty name in it"),
        (["detection", "--out", ""], "the path is empty"),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, arguments: list[str], words: str) -> None:
    code, output, errors = told(tmp_path, *arguments)
    assert (code, output) == (2, "")
    assert words in errors
    assert errors.count("\n") == 1


@pytest.mark.long  # imports what the detectors need: torch, scikit-learn
def test_what_cannot_be_run_is_one_line_too(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"seed": 9}')
    code, _output, errors = told(tmp_path, "detection", "--detectors", "random", "--out", ".")
    assert code == 2
    assert "holds the results of another run" in errors
    code, _output, errors = told(tmp_path, "detection", "--detectors", "gremlin")
    assert code == 2
    assert "detector 'gremlin': known are paramedic" in errors


def test_lines_tell_the_beginning_the_end_and_long_silences() -> None:
    now, out = [0.0], io.StringIO()
    bar = LineBar(out, lambda: now[0])
    bar.stage("examining", 4)
    for second in (1.0, 12.0, 13.0, 14.0):
        now[0] = second
        bar.advance(f"episode-{second:g}")
    bar.close()
    assert out.getvalue().splitlines() == [
        "paramedic: examining: 4",
        "paramedic: examining: 2 of 4 (12 s; episode-12)",
        "paramedic: examining: 4 of 4 (14 s; episode-14)",
    ]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_bar_and_a_pipe_gets_lines() -> None:
    assert isinstance(open_bar(io.StringIO()), LineBar)
    terminal = Terminal()
    bar = open_bar(terminal)
    bar.stage("training", 1)
    bar.advance("minder")
    bar.close()
    assert "training" in terminal.getvalue()
    assert "1/1" in terminal.getvalue()


@pytest.mark.connected
def test_a_run_of_two_floors_prints_json_alone_and_keeps_its_report(tmp_path: Path) -> None:
    """Detectors that learn nothing heavy; on a test of its own, for it lives some dozen jobs."""
    arguments = ("detection", "--detectors", "always_same,random", "--format", "json")
    code, output, errors = told(tmp_path, *arguments)
    report = json.loads(output)
    assert {row["detector"] for row in report["rows"]} == {"random", "always_same"}
    assert code == (0 if report["holds"] else 1)
    assert "results are in" in errors
    kept = tmp_path / "bench" / "detection-quick-0"
    assert json.loads((kept / "report.json").read_text()) == report
    assert "random" in (kept / "report.txt").read_text()
