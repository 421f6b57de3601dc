"""Real sets: found by flag or variable, told when absent, and, where they are there, judged."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from diagnosis.benchmark.real_sets.asd_made_up import write_asd
from paramedic.diagnosis.benchmark.real_sets.errors import RealSetAbsentError
from paramedic.diagnosis.benchmark.real_sets.evaluation import SETS, evaluate_real_sets
from paramedic.diagnosis.benchmark.real_sets.location import VARIABLE, reference_folder


def test_the_flag_is_stronger_than_the_variable(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    assert reference_folder(other, {VARIABLE: str(tmp_path)}) == other
    assert reference_folder(None, {VARIABLE: str(tmp_path)}) == tmp_path


def test_without_a_folder_it_is_said_how_to_name_one(tmp_path: Path) -> None:
    with pytest.raises(RealSetAbsentError, match=VARIABLE):
        reference_folder(None, {})
    with pytest.raises(RealSetAbsentError, match="is no folder"):
        reference_folder(tmp_path / "nowhere", {})


def test_a_set_that_is_absent_is_told_and_the_others_are_judged(tmp_path: Path) -> None:
    told: list[str] = []
    rows = list(evaluate_real_sets(write_asd(tmp_path), told.append))
    assert [row.name for row in rows] == ["asd"]
    assert [line.split(":")[0] for line in told] == [name for name in SETS if name != "asd"]


@pytest.mark.long
def test_what_is_promised_of_the_real_sets_holds() -> None:
    try:
        folder = reference_folder(None, os.environ)
    except RealSetAbsentError as error:
        pytest.skip(str(error))
    rows = list(evaluate_real_sets(folder, pytest.fail))
    assert [row.name for row in rows] == list(SETS)
    assert all(row.holds for row in rows), "\n".join(row.line() for row in rows)
