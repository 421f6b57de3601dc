"""What a real set's row says."""

from __future__ import annotations

from paramedic.diagnosis.benchmark.real_sets.asd_ranking import share_within
from paramedic.diagnosis.benchmark.real_sets.rows import RealSetRow


def row(*, holds: bool) -> RealSetRow:
    return RealSetRow("asd", {"runs": 13, "first": 9 / 13, "named": "9 14"}, "most are", holds)


def test_a_line_tells_figures_promise_and_whether_it_holds() -> None:
    assert row(holds=True).line() == "asd: runs 13, first 0.692, named 9 14; most are: holds"
    assert row(holds=False).line().endswith("most are: DOES NOT HOLD")


def test_json_has_the_figures_beside_the_name() -> None:
    told = row(holds=True).to_json()
    assert list(told) == ["real_set", "runs", "first", "named", "promise", "holds"]
    assert told["first"] == 9 / 13


def test_a_share_of_nothing_is_nothing() -> None:
    assert share_within([], 1) == 0.0
    assert share_within([1, 3, 4], 3) == 2 / 3
