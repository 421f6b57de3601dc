"""ASD: read as it is, ranked by what the unlabelled past knows, named as it comes in."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from diagnosis.benchmark.real_sets.asd_made_up import LABELLED, PAST, RUNS, SERVERS, write_asd
from paramedic.diagnosis.benchmark.real_sets import asd
from paramedic.diagnosis.benchmark.real_sets.asd_online import limit_for, onsets
from paramedic.diagnosis.benchmark.real_sets.asd_reading import SLOT_SECONDS, Asd, read_asd
from paramedic.diagnosis.benchmark.real_sets.errors import RealSetAbsentError, RealSetFormatError
from paramedic.ingest.contract import Entity, NodeName


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> Asd:
    return read_asd(write_asd(tmp_path_factory.mktemp("asd")))


def test_all_servers_end_together_and_what_began_later_is_unknown(made_up: Asd) -> None:
    window = made_up.past.windows[Entity.NODE]
    assert window.values.shape == (SERVERS, 3, PAST)
    assert not window.observed[-1, :, :200].any()
    assert window.observed[-1, :, 200:].all()
    assert np.nanmax(window.values) < 2, "hundredths were read as ones"


def test_the_labelled_days_follow_the_past(made_up: Asd) -> None:
    assert made_up.past.seconds[-1] + SLOT_SECONDS == made_up.labelled.seconds[0]
    assert made_up.labels.shape == (SERVERS, LABELLED)
    assert [run.event_class for run in made_up.localisable_runs] == ["solo", "few", "few"]
    assert made_up.place(NodeName("omi-3")) == 2


def test_servers_that_deviate_stand_first_and_are_named_online(made_up: Asd) -> None:
    row = asd.judge(made_up)
    assert row.holds
    assert row.figures["runs"] == len(RUNS)
    assert row.figures["first_others_aside"] == 1.0
    assert row.figures["among_three"] == 1.0
    assert row.figures["online_found"] == 1.0
    assert float(row.figures["online_delay_p50_seconds"]) <= 6 * SLOT_SECONDS


def test_servers_that_do_nothing_odd_are_not_found(tmp_path: Path) -> None:
    row = asd.evaluate(write_asd(tmp_path, depth=0.0))
    assert not row.holds
    assert float(row.figures["online_found"]) < 0.5


@pytest.mark.parametrize("name", ["asd_dev.npz", "asd_dev_segments.csv"])
def test_a_file_that_is_not_there_is_named(tmp_path: Path, name: str) -> None:
    (write_asd(tmp_path) / name).unlink()
    with pytest.raises(RealSetAbsentError, match=name):
        read_asd(tmp_path)


def test_a_file_of_another_form_is_refused(tmp_path: Path) -> None:
    np.savez(write_asd(tmp_path) / "asd_dev.npz", something=np.zeros(3))
    with pytest.raises(RealSetFormatError, match="ASD"):
        read_asd(tmp_path)


def test_the_limit_is_the_lowest_with_so_few_alarms() -> None:
    scores = np.random.default_rng(0).exponential(1.0, (4, 288 * 10))
    limit = limit_for(scores, 0.5)
    assert onsets(scores > limit).sum() <= 20
    assert onsets(scores > limit - 0.05).sum() >= 20


def test_an_alarm_that_flickers_is_one_alarm() -> None:
    hot = np.zeros((1, 40), np.bool_)
    hot[0, [5, 7, 10, 30]] = True
    assert list(np.flatnonzero(onsets(hot)[0])) == [5, 30]
