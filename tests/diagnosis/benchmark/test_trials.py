"""Recordings with a truth beside them, and synthetic jobs, as trials; the soak."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

import pytest

from diagnosis.benchmark.staged import BEGIN, NODES, StagedSource, alarm, facts, fault
from diagnosis.benchmark.told import SLOW, TRUTH, history_of, recorded
from diagnosis.synthetic import START, node_name
from paramedic.diagnosis.benchmark.episodes import Drawn, Episode, Facts, Part
from paramedic.diagnosis.benchmark.errors import TruthError
from paramedic.diagnosis.benchmark.ledger import ResultsLedger
from paramedic.diagnosis.benchmark.results import Result
from paramedic.diagnosis.benchmark.soak import soak_report, soak_source
from paramedic.diagnosis.benchmark.verdicts.telling import table_of
from paramedic.diagnosis.benchmark.verdicts.trials import (
    DrawnTrial,
    Tried,
    attempt,
    attempts,
    recorded_trials,
)
from paramedic.diagnosis.benchmark.verdicts.truth import Truth, read_truth
from paramedic.diagnosis.detector import DetectorConfig
from paramedic.ingest.recordings.errors import RecordingFormatError
from paramedic.models.detection import Alarm

CONFIG = DetectorConfig()


def test_a_recording_is_tried_like_the_history_of_the_same_telemetry(tmp_path: Path) -> None:
    recorded(tmp_path / "some" / "a", SLOW.batches())
    (trial,) = recorded_trials(tmp_path)
    assert trial.name == "some/a"
    tried = attempt(trial, CONFIG, clock=iter([1.0, 3.5]).__next__)
    (verdict,) = tried.verdicts
    assert (verdict.node, tried.compute_seconds) == (node_name(2), 2.5)
    assert (tried.outcome.hits, tried.outcome.false_alarms) == (1, 0)
    assert straggler().verdicts == tried.verdicts
    assert straggler().alarms == tried.alarms


class Same(StagedSource):
    """Lives the telemetry of the recording."""

    def live(self, drawn: Drawn) -> Episode:
        return Episode(facts(name=drawn.name), history_of(SLOW.batches()))


def read(folder: Path, truth: object) -> Truth:
    text = truth if isinstance(truth, str) else json.dumps(truth)
    (folder / "truth.json").write_text(text)
    return read_truth(folder)


def test_a_truth_tells_when_all_stood_still_and_when_the_ranks_gave_up(tmp_path: Path) -> None:
    known = read(tmp_path, TRUTH).facts("a", range(START, START + 45))
    assert (known.setting, known.seconds, known.nodes) == ("single", 45, 4)
    (one,) = known.faults
    assert (one.onset, one.stopped_at, one.halted_at) == (START + 22, START + 40, None)
    ended = {**TRUTH, "faults": [{**TRUTH["faults"][0], "ended_at": START + 44.0}]}
    assert read(tmp_path, ended).faults[0].halted_at == START + 44


def changed(**fields: object) -> dict[str, object]:
    """The truth with another fault; None: without the field."""
    fault = {**TRUTH["faults"][0], **fields}
    return {**TRUTH, "faults": [{name: one for name, one in fault.items() if one is not None}]}


@pytest.mark.parametrize(
    ("truth", "words"),
    [
        ("", "is not JSON"),
        ("[" * 99_999, "is not JSON"),
        ([], "the file is no JSON object"),
        ({"nodes": 4}, 'faults is missing: add it; "faults": [] says that nothing broke'),
        ({"nodes": 4, "faults": {}}, "faults is {}, it must be a list of objects"),
        ({"nodes": "4", "faults": []}, "nodes is '4', it must be a whole number from 0 to 2147"),
        ({"faults": []}, "nodes is missing: add it"),
        ({"nodes": 4, "faults": [3]}, "faults[0] is no JSON object"),
        (changed(fault=None), "faults[0].fault is missing: add it"),
        (changed(fault=None, kind="hang"), "missing: add it (a label file says `kind`, a truth"),
        (changed(nodes=None), "faults[0].nodes is missing: add it"),
        (changed(nodes="n1"), "faults[0].nodes is 'n1', it must be a list of names"),
        (changed(nodes=["n1", 2]), "faults[0].nodes is ['n1', 2], it must be a list of names"),
        (changed(onset=None), "faults[0].onset is missing: add it"),
        (changed(onset="2026-01-01T00:11:12Z"), "onset is '2026-01-01T00:11:12Z', it must be Unix"),
        (changed(onset=1767226260000), "faults[0].onset is 1767226260000, it must be Unix seconds"),
        (changed(end=float("nan")), "faults[0].end is nan, it must be Unix seconds"),
        (changed(halted_at=True), "faults[0].halted_at is True, it must be Unix seconds"),
        (changed(group="no"), "faults[0].group is 'no', it must be true or false"),
        (changed(gpu=1.5), "faults[0].gpu is 1.5, it must be a whole number from 0 to 1024"),
    ],
)
def test_a_wrong_truth_is_refused_by_file_field_value_and_wish(
    tmp_path: Path, truth: object, words: str
) -> None:
    with pytest.raises(TruthError, match=re.escape(words)) as told:
        read(tmp_path, truth)
    assert str(told.value).startswith(str(tmp_path / "truth.json"))


def test_a_truth_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(TruthError, match=r"truth\.json cannot be read"):
        read_truth(tmp_path)
    assert recorded_trials(tmp_path) == []


def test_every_truth_and_job_is_looked_at_before_the_first_is_tried(tmp_path: Path) -> None:
    recorded(tmp_path / "a", SLOW.batches()[:2])
    recorded(tmp_path / "b", SLOW.batches()[:2], {"nodes": 4})
    with pytest.raises(TruthError, match=r"b/truth\.json: faults is missing"):
        recorded_trials(tmp_path)
    (tmp_path / "b/truth.json").write_text(json.dumps(TRUTH))
    (tmp_path / "b/job.json").write_text("{}")
    with pytest.raises(RecordingFormatError, match=r"b/job\.json: schema is missing"):
        recorded_trials(tmp_path)


def test_a_node_of_which_the_recording_knows_nothing_is_no_miss(tmp_path: Path) -> None:
    recorded(tmp_path / "a", SLOW.batches()[:2], changed(nodes=["node-7"]))
    (trial,) = recorded_trials(tmp_path)
    with pytest.raises(TruthError, match=r"nodes of straggler hold 'node-7', .* it has node-0000"):
        trial.open()


@cache
def straggler() -> Tried:
    return attempt(DrawnTrial(Drawn("a", Part.TEST, None), Same()), CONFIG)


def tried(known: Facts, *alarms: Alarm) -> Tried:
    """As if these had been the accusations; their words are of another one."""
    return Tried(known, alarms, straggler().verdicts * len(alarms), (), 1.0)


def test_what_went_wrong_is_told_and_what_went_well_is_not() -> None:
    wrong = tried(facts(fault(1, gpu=3), name="wrong"), alarm(60, 2), alarm(61, 2))
    well = tried(facts(fault(1), name="well"), alarm(60, 1))
    told = "\n".join(table_of([wrong, well]))
    assert "all: 2 episodes, precision 0.500, recall 0.500" in told
    assert "wrong: 4 nodes, 1000 s, missing 0.00; 0 hits, 1 false, 1 missed" in told
    assert f"broken ecc_error {NODES[1]}/3 at 50 s" in told
    assert f"said 60 s: node {NODES[2]} straggler" in told
    assert told.count("and 1 more like it") == 1
    assert "well:" not in told


def test_recordings_of_harder_sorts_are_held_against_those_of_the_usual_ones() -> None:
    usual = tried(facts(fault(1), name="a", setting="single"), alarm(60, 1))
    slow = tried(facts(fault(1), name="b", setting="cadence15"))
    told = list(table_of([usual, slow]))
    assert "bar: one fault: F1: 1 (at least 0.95): held" in told
    assert "bar: 15s: F1 lost: 1 (at most 0.06): MISSED" in told
    assert not [line for line in told if "not measured" in line]
    assert any(line.startswith("15s ") and "+1.000" in line for line in told)


def test_what_was_said_of_a_job_s_end_can_be_left_aside() -> None:
    known = facts(fault(1, halted_at=BEGIN + 100))
    one = tried(known, alarm(60, 1), alarm(99, 0), alarm(100, 2))
    assert (one.outcome.false_alarms, one.until_halt.false_alarms) == (2, 0)
    assert one.until_halt.hits == 1


@pytest.mark.connected
@pytest.mark.timeout(300)  # two processes import everything
def test_processes_of_their_own_try_the_same(tmp_path: Path) -> None:
    for name in ("a", "b"):
        recorded(tmp_path / name, SLOW.batches())
    trials = recorded_trials(tmp_path)
    alone, beside = ([*attempts(trials, CONFIG, workers)] for workers in (1, 2))
    assert [one.verdicts for one in alone] == [one.verdicts for one in beside]


def test_a_soak_counts_what_was_raised_as_far_as_it_has_come(tmp_path: Path) -> None:
    ledger = ResultsLedger(tmp_path, {})
    said = {"a": (alarm(60, 1), alarm(70, 1), alarm(900, 2)), "b": ()}
    for name, alarms in said.items():
        known = facts(name=name)
        ledger.add(known, [Result(name, "paramedic", {0.0: alarms}, 1.0)])
    ledger.add(facts(name="c"), [Result("c", "other", {0.0: ()}, 1.0)])
    report = soak_report(ledger, planned_job_hours=1440)
    assert report.false_alarms == 2
    assert report.job_hours == pytest.approx(2000 / 3600)
    assert len(report.accusations) == 3
    assert "a: node-1 accused of None at 60 s" in report.accusations
    assert report.holds
    assert "2 false alarms in 0.6 of 1440 healthy job-hours" in list(report.lines())[-1]
    assert not soak_report(ledger, planned_job_hours=200).holds
    assert report.to_json()["false_alarms_allowed"] == 3


def test_a_soak_draws_healthy_jobs_of_its_own_in_pieces_of_twenty_minutes() -> None:
    source = soak_source(2, 0)
    drawn = [one for part in Part for one in source.draw(part)]
    assert len(drawn) == 6
    assert all("healthy" in one.name for one in drawn)
    assert not any(one.is_for_disturbed for one in drawn)
    assert soak_source(2, 1).draw(Part.TEST) != source.draw(Part.TEST)
