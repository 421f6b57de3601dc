"""`paramedic bench verdicts` and `soak`: mistakes in a line, and what is told where."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from diagnosis.benchmark.staged import alarm, facts
from diagnosis.benchmark.told import SLOW, recorded
from diagnosis.synthetic import node_name
from paramedic.api.command_line.dispatch import dispatch
from paramedic.api.command_line.surroundings import Surroundings
from paramedic.api.wiring.bench_soak import SoakRequest, bench_soak
from paramedic.diagnosis.benchmark.episodes import Part
from paramedic.diagnosis.benchmark.ledger import ResultsLedger
from paramedic.diagnosis.benchmark.provenance import makers_of
from paramedic.diagnosis.benchmark.results import Result
from paramedic.diagnosis.benchmark.soak import soak_source
from paramedic.diagnosis.benchmark.verdicts.detector import VerdictDetector

ALONE = ("--workers", "1")


def told(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    out, err = io.StringIO(), io.StringIO()
    code = dispatch(["bench", *arguments], Surroundings(folder, {}, out, err))
    return code, out.getvalue(), err.getvalue()


def test_recordings_are_tried_and_told_as_a_table(tmp_path: Path) -> None:
    recorded(tmp_path / "r" / "slow", SLOW.batches())
    code, output, errors = told(tmp_path, "verdicts", "--recordings", "r", *ALONE)
    assert (code, output) == (0, "")
    assert "trying: 1 of 1" in errors
    assert "all: 1 episode, precision 1.000, recall 1.000" in errors


def test_each_episode_is_a_line_of_json(tmp_path: Path) -> None:
    recorded(tmp_path / "slow", SLOW.batches())
    _code, output, _errors = told(
        tmp_path, "verdicts", "--recordings", ".", "--format", "json", *ALONE
    )
    (line,) = output.splitlines()
    fields = json.loads(line)
    assert (fields["hits"], fields["false_alarms"], fields["misses"]) == (1, 0, 0)
    assert fields["accusations"][0]["node"] == node_name(2)
    assert fields["episode"]["name"] == "slow"


@pytest.mark.parametrize(
    ("truth", "words"),
    [
        (None, "holds no recording with a truth.json"),
        ({}, "slow/truth.json: faults is missing: add it"),
    ],
)
def test_recordings_that_cannot_be_tried_are_one_line(
    tmp_path: Path, truth: object, words: str
) -> None:
    if truth is not None:
        recorded(tmp_path / "slow", SLOW.batches()[:5], truth)
    code, output, errors = told(tmp_path, "verdicts", "--recordings", ".", *ALONE)
    assert (code, output) == (2, "")
    assert words in errors.splitlines()[-1]


@pytest.mark.long  # reads all code for its digest
def test_a_soak_that_is_complete_runs_nothing_again_and_tells(tmp_path: Path) -> None:
    out, err = io.StringIO(), io.StringIO()
    request = SoakRequest(job_hours=0, seed=0, out=tmp_path / "soak", workers=1)
    assert bench_soak(request, True, out, err) == 0
    assert "0 false alarms in 0.0 of 0 healthy job-hours" in err.getvalue()
    assert json.loads(out.getvalue())["holds"]


@pytest.mark.long  # reads all code for its digest
def test_a_soak_in_the_folder_of_another_is_refused(tmp_path: Path) -> None:
    ResultsLedger(tmp_path / "soak", soak_source(1, 0).drawn(), makers_of([VerdictDetector()]))
    code, _output, errors = told(tmp_path, "soak", "--healthy-hours", "2", "--out", "soak", *ALONE)
    assert code == 2
    assert "holds the results of another run" in errors


class Impatient(io.StringIO):
    """Presses Ctrl-C when the first stage begins."""

    def write(self, text: str) -> int:
        written = super().write(text)
        if "training: 1" in text:
            raise KeyboardInterrupt
        return written


@pytest.mark.long  # reads all code for its digest
def test_a_soak_that_is_broken_off_tells_how_far_it_has_come(tmp_path: Path) -> None:
    source, makers = soak_source(1, 0), makers_of([VerdictDetector()])
    ledger = ResultsLedger(tmp_path / "soak", source.drawn(), makers)
    known = replace(facts(name=source.draw(Part.TEST)[0].name), seconds=1200)
    ledger.add(known, [Result(known.name, "paramedic", {0.0: (alarm(9, 1),)}, 1.0)])
    err = Impatient()
    with pytest.raises(KeyboardInterrupt):
        bench_soak(SoakRequest(1, 0, tmp_path / "soak", 1), False, io.StringIO(), err)
    told = err.getvalue().splitlines()
    assert told[-2] == f"{known.name}: node-1 accused of None at 9 s"
    assert "1 false alarm in 0.3 of 1 healthy job-hour (" in told[-1]
