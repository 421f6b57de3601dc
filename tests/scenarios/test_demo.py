"""The demo end to end, short: a real training is hurt, diagnosed and brought back."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from scenarios.case import Case, wait_until

pytestmark = [pytest.mark.connected, pytest.mark.timeout(600)]

FIELDS = [
    "fault",
    "rank_hit",
    "rank_named",
    "seconds_to_detect",
    "seconds_to_localise",
    "seconds_to_recover",
    "steps_lost",
    "goodput",
    "loss_curve_identical",
    "steps",
    "wrong_verdicts",
]


def test_a_killed_rank_is_named_and_the_curve_stays_the_same(case: Case) -> None:
    done = case.run(
        "demo", "--fault", "kill", "--steps", "24", "--nproc", "2", "--rank", "1",
        "--format", "json", "--port", "0", seconds=300.0,
    )  # fmt: skip
    assert done.code == 0, done.errors
    summary = json.loads(done.out)
    assert list(summary) == FIELDS
    assert (summary["rank_hit"], summary["rank_named"]) == (1, 1)
    assert summary["wrong_verdicts"] == 0
    assert summary["loss_curve_identical"] is True
    assert summary["seconds_to_detect"] <= 2.0
    assert "Traceback" not in done.errors


def test_a_script_that_is_not_there_is_one_line(case: Case) -> None:
    done = case.run("demo", "--script", "nothere.py")
    assert done.code == 2
    assert done.lines == ["paramedic: no training script at nothere.py; name one with --script"]


def test_a_training_that_breaks_by_itself_is_told_with_its_last_words(case: Case) -> None:
    script = Path(case.folder / "broken.py")
    script.write_text("raise SystemExit('no data here')\n")
    done = case.run("demo", "--script", str(script), "--nproc", "1", "--port", "0")
    assert done.code == 2
    assert "no data here" in done.errors
    assert "Traceback" not in done.errors


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_demo_that_is_ended_leaves_no_process(case: Case, number: signal.Signals) -> None:
    process = case.start("demo", "--steps", "1000", "--nproc", "2", "--port", "0")
    wait_until(lambda: len(case.processes("--losses")) >= 3, "the reference run had ranks")
    process.send_signal(number)
    done = case.finish(process)
    assert done.code in (128 + number, -number)
    assert "Traceback" not in done.errors
