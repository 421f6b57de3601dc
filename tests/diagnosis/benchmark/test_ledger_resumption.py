"""A ledger whose writer was ended in the middle of a line, and one that another run has claimed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.benchmark.staged import alarm, facts, fault
from paramedic.diagnosis.benchmark.episodes import Facts
from paramedic.diagnosis.benchmark.errors import ResultsError
from paramedic.diagnosis.benchmark.ledger import ResultsLedger
from paramedic.diagnosis.benchmark.results import Result

DRAWN = {"seed": 1, "size": "quick"}
DETECTORS = ("paramedic", "minder")


def known(at: int) -> Facts:
    return facts(fault(at % 4), name=f"test-{at}")


def add(ledger: ResultsLedger, at: int) -> None:
    said = {1.0: (alarm(60, at % 4, family="hang"),), 2.0: ()}
    ledger.add(known(at), [Result(f"test-{at}", name, said, 0.5) for name in DETECTORS])


def examined(ledger: ResultsLedger) -> list[str]:
    return [f"test-{at}" for at in range(3) if all(ledger.has(f"test-{at}", n) for n in DETECTORS)]


@given(cut=st.integers(0, 10_000), name=st.sampled_from(["episodes.jsonl", "results.jsonl"]))
def test_wherever_the_writer_was_cut_off_whole_lines_are_kept_and_the_rest_is_made_again(
    tmp_path_factory: pytest.TempPathFactory, cut: int, name: str
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    whole = ResultsLedger(folder, DRAWN)
    for at in range(3):
        add(whole, at)
    text = (folder / name).read_text()
    kept = text[: cut % len(text)]
    (folder / name).write_text(kept)

    again = ResultsLedger(folder, DRAWN)
    lines = kept.count("\n")
    assert len(examined(again)) == (lines if name == "episodes.jsonl" else lines // 2)
    for at in range(3):
        if f"test-{at}" not in examined(again):
            add(again, at)
    resumed = ResultsLedger(folder, DRAWN)
    assert (resumed.facts, resumed.results) == (whole.facts, whole.results)
    for line in (folder / name).read_text().splitlines():
        json.loads(line)


@pytest.mark.parametrize(
    "asked", [{"seed": 2, "size": "quick"}, {"seed": 1}, {**DRAWN, "plans": "abc"}, {"seed": "1"}]
)
def test_other_settings_are_refused_and_what_is_kept_is_not_touched(
    tmp_path: Path, asked: dict[str, object]
) -> None:
    add(ResultsLedger(tmp_path, DRAWN), 0)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(ResultsError, match=r"another run \(run\.json .* name another folder"):
        ResultsLedger(tmp_path, asked)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
    assert examined(ResultsLedger(tmp_path, DRAWN)) == ["test-0"]


def test_an_episode_examined_again_has_its_last_result(tmp_path: Path) -> None:
    ledger = ResultsLedger(tmp_path, DRAWN)
    add(ledger, 0)
    later = Result("test-0", "minder", {1.0: ()}, 9.0)
    ledger.add(known(0), [later])
    assert ResultsLedger(tmp_path, DRAWN).results["test-0", "minder"] == later


def test_a_folder_where_a_file_belongs_is_named(tmp_path: Path) -> None:
    ledger = ResultsLedger(tmp_path, DRAWN)
    (tmp_path / "results.jsonl").mkdir()
    with pytest.raises(ResultsError, match=r"results\.jsonl cannot be written"):
        add(ledger, 0)
    with pytest.raises(ResultsError, match=r"results\.jsonl cannot be read"):
        ResultsLedger(tmp_path, DRAWN)


@pytest.mark.parametrize("name", ["run.json", "episodes.jsonl"])
def test_a_file_of_no_text_is_named(tmp_path: Path, name: str) -> None:
    add(ResultsLedger(tmp_path, DRAWN), 0)
    (tmp_path / name).write_bytes(b"\xff\xfe\x00\n")
    with pytest.raises(ResultsError, match=name.replace(".", r"\.")):
        ResultsLedger(tmp_path, DRAWN)
