"""Results on disk: what is read is what was written, and what was cut off is not there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.benchmark.staged import NODES, alarm, facts, fault
from paramedic.diagnosis.benchmark.errors import ResultsError
from paramedic.diagnosis.benchmark.ledger import ResultsLedger
from paramedic.diagnosis.benchmark.results import Result
from paramedic.models.detection import Alarm

DRAWN = {"seed": 1, "plans": "abc"}
KNOWN = facts(fault(1, at=50, gpu=3, metrics_shown=2), name="test-0")
ALARMS = st.builds(
    Alarm,
    second=st.integers(0, 2**31),
    nodes=st.lists(st.sampled_from(NODES), min_size=1, max_size=3, unique=True).map(tuple),
    score=st.floats(allow_nan=False, allow_infinity=False),
    gpu=st.none() | st.integers(0, 7),
    family=st.none() | st.sampled_from(["ecc_error", "hang"]),
)
RESULTS = st.builds(
    Result,
    episode=st.just("test-0"),
    detector=st.sampled_from(["paramedic", "minder"]),
    alarms=st.dictionaries(
        st.floats(0, 1e6), st.lists(ALARMS, max_size=3).map(tuple), min_size=1, max_size=4
    ),
    compute_seconds=st.floats(0, 1e4),
)


def result(detector: str = "minder", *alarms: Alarm) -> Result:
    return Result("test-0", detector, {1.0: alarms, 2.0: alarms, 3.0: ()}, 0.25)


@given(RESULTS)
def test_a_result_comes_back_from_its_line_as_it_was(kept: Result) -> None:
    assert Result.from_json(json.loads(json.dumps(kept.to_json()))) == kept


def test_thresholds_that_raise_the_same_alarms_share_them() -> None:
    fields = result("minder", alarm(60, 1)).to_json()
    assert fields["thresholds"] == [[1.0, 0], [2.0, 0], [3.0, 1]]
    assert isinstance(fields["alarms"], list)
    assert len(fields["alarms"]) == 2


def test_a_folder_of_somebody_else_s_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(ResultsError, match=r"holds something else \(thesis\.tex\) and no results"):
        ResultsLedger(tmp_path, DRAWN)
    assert [one.name for one in tmp_path.iterdir()] == ["thesis.tex"]


def test_what_was_added_is_there_when_the_folder_is_opened_again(tmp_path: Path) -> None:
    ResultsLedger(tmp_path / "deep" / "folder", DRAWN).add(KNOWN, [result(), result("random")])
    again = ResultsLedger(tmp_path / "deep" / "folder", DRAWN)
    assert again.facts == {"test-0": KNOWN}
    assert again.has("test-0", "minder")
    assert again.results["test-0", "random"] == result("random")
    assert not again.has("test-0", "paramedic")
    assert not again.has("test-1", "minder")


def test_the_facts_of_an_episode_are_written_once(tmp_path: Path) -> None:
    ledger = ResultsLedger(tmp_path, DRAWN)
    ledger.add(KNOWN, [result()])
    ledger.add(KNOWN, [result("random")])
    assert len((tmp_path / "episodes.jsonl").read_text().splitlines()) == 1
    assert len((tmp_path / "results.jsonl").read_text().splitlines()) == 2


@pytest.mark.parametrize("name", ["episodes.jsonl", "results.jsonl"])
def test_a_line_that_was_cut_off_counts_as_not_written(tmp_path: Path, name: str) -> None:
    ResultsLedger(tmp_path, DRAWN).add(KNOWN, [result()])
    file = tmp_path / name
    whole = file.read_text()
    file.write_text(whole + whole[: len(whole) // 2])
    again = ResultsLedger(tmp_path, DRAWN)
    assert again.has("test-0", "minder")
    assert file.read_text() == whole
    file.write_text(whole[:-5])
    assert not ResultsLedger(tmp_path, DRAWN).has("test-0", "minder")


def test_the_same_draw_in_another_order_of_fields_is_the_same(tmp_path: Path) -> None:
    ResultsLedger(tmp_path, {"seed": 1, "plans": "abc"})
    ResultsLedger(tmp_path, {"plans": "abc", "seed": 1})


def test_a_result_of_no_known_shape_names_its_line_and_what_to_do(tmp_path: Path) -> None:
    ResultsLedger(tmp_path, DRAWN).add(KNOWN, [result()])
    file = tmp_path / "results.jsonl"
    file.write_text(file.read_text() + '{"episode": "x", "thresholds": [[1.0, 7]]}\n')
    with pytest.raises(ResultsError, match=r"results\.jsonl, line 2 .* remove the line"):
        ResultsLedger(tmp_path, DRAWN)
