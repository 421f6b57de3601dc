"""The run from drawing to report, on a staged source, and what a killed run leaves."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from diagnosis.benchmark.staged import Heard, Seeing, StagedSource, history, silent
from paramedic.diagnosis.benchmark.episodes import Drawn, Episode, Part
from paramedic.diagnosis.benchmark.errors import ResultsError
from paramedic.diagnosis.benchmark.ledger import ResultsLedger
from paramedic.diagnosis.benchmark.report import Report, report_on, score
from paramedic.diagnosis.benchmark.running import LoneCrew, ProcessCrew, run, sharing

DRAWN = {"seed": 1}
SOURCE = StagedSource()


class Halved(StagedSource):
    """Of which variants see one half."""

    def draw(self, part: Part) -> Sequence[Drawn]:
        drawn = super().draw(part)
        return [replace(one, is_for_variants=at < 2) for at, one in enumerate(drawn)]


def ran(folder: Path, *detectors: Seeing) -> tuple[Report, Heard]:
    heard, ledger = Heard(), ResultsLedger(folder, DRAWN)
    run(SOURCE, detectors, ledger, LoneCrew(SOURCE), heard)
    names = [one.name for one in detectors]
    return report_on(ledger, names, DRAWN, wants_proof=False), heard


def test_a_detector_that_sees_everything_beats_a_silent_one(tmp_path: Path) -> None:
    report, _heard = ran(tmp_path, silent(), Seeing())
    assert [row.detector for row in report.rows] == ["paramedic", "minder"]
    best, last = report.rows
    assert (best.f1, best.precision, best.recall, best.threshold) == (1.0, 1.0, 1.0, 0.5)
    assert (last.f1, last.recall) == (0.0, 0.0)
    assert (best.pr_auc, last.pr_auc) == (1.0, 0.0)
    assert report.comparisons["minder"].difference == 1.0
    assert report.holds


def test_it_trains_once_and_examines_validation_and_test(tmp_path: Path) -> None:
    seeing = Seeing()
    _report, heard = ran(tmp_path, seeing)
    assert seeing.learned_from == [4]
    assert heard.stages == [("training", 1), ("examining", 8)]
    assert len(heard.steps) == 9


def test_who_may_share_what_is_learnt_is_trained_together() -> None:
    names = ("paramedic", "minder", "max_z", "minder_raw", "paramedic_no_network", "paramedic@5s")
    assert sharing([Seeing(name) for name in names]) == [
        ["paramedic", "paramedic_no_network", "paramedic@5s"], ["minder", "minder_raw"], ["max_z"],
    ]  # fmt: skip


def test_a_run_that_was_killed_goes_on_where_it_stopped(tmp_path: Path) -> None:
    whole, _heard = ran(tmp_path / "whole", Seeing(), silent())
    ran(tmp_path / "cut", Seeing(), silent())
    results = tmp_path / "cut" / "results.jsonl"
    text = results.read_text()
    results.write_text(text[: len(text) * 2 // 3])
    again, heard = ran(tmp_path / "cut", Seeing(), silent())
    assert 0 < dict(heard.stages)["examining"] < 8
    assert [row.f1 for row in again.rows] == [row.f1 for row in whole.rows]
    assert len(results.read_text().splitlines()) == 16


def test_a_run_that_is_complete_does_nothing_again(tmp_path: Path) -> None:
    ran(tmp_path, Seeing())
    seeing = Seeing()
    _report, heard = ran(tmp_path, seeing)
    assert (heard.stages, seeing.learned_from) == ([], [])


def test_variants_examine_a_share_and_are_compared_on_it(tmp_path: Path) -> None:
    source = Halved()
    ledger, detectors = ResultsLedger(tmp_path, DRAWN), [Seeing(), silent("paramedic_blind")]
    run(source, detectors, ledger, LoneCrew(source), Heard())
    names = [one.name for one in detectors]
    report = report_on(ledger, names, DRAWN, wants_proof=False)
    assert [row.episodes for row in report.rows] == [2, 1]
    assert report.comparisons["paramedic_blind"].difference == 1.0


class Sleepy(Seeing):
    """The product on episodes that it sees as healthy; the third means nothing to it."""

    def disturb(self, episode: Episode) -> Episode | None:
        if episode.facts.name == "test-3":
            return None
        return replace(episode, history=history(seed=7))


class Disturbing(StagedSource):
    """Whose faulty test jobs are examined disturbed, too."""

    def draw(self, part: Part) -> Sequence[Drawn]:
        is_test = part is Part.TEST
        return [
            replace(one, is_for_disturbed=is_test and at % 2 == 1)
            for at, one in enumerate(super().draw(part))
        ]


def test_the_product_is_held_against_itself_on_disturbed_episodes_and_has_no_row_there(
    tmp_path: Path,
) -> None:
    source, ledger = Disturbing(), ResultsLedger(tmp_path, DRAWN)
    detectors = [Seeing(thresholds=(0.5,)), Sleepy("paramedic@5s", thresholds=(0.5,))]
    heard = Heard()
    run(source, detectors, ledger, LoneCrew(source), heard)
    report = report_on(ledger, [one.name for one in detectors], DRAWN, wants_proof=True)
    assert [row.detector for row in report.rows] == ["paramedic"]
    (cost,) = report.disturbed
    assert (cost.name, cost.episodes, cost.f1_loss) == ("5s", 1, 1.0)
    assert "5s: F1 lost" in [bar.words for bar in report.missed]
    assert not report.holds
    assert dict(heard.stages)["examining"] == 4  # one threshold alone: nothing to validate
    run(source, detectors, ledger, LoneCrew(source), heard)
    assert len(heard.stages) == 2  # what means nothing is not asked again


def test_minder_s_variants_are_held_against_it_on_all_episodes(tmp_path: Path) -> None:
    source, hasty = Halved(), Seeing("minder_no_continuity", thresholds=(0.1,))
    ledger, detectors = ResultsLedger(tmp_path, DRAWN), [Seeing("minder"), hasty]
    run(source, [*detectors, silent("minder_raw")], ledger, LoneCrew(source), Heard())
    names = ["minder", "minder_no_continuity", "minder_raw"]
    report = report_on(ledger, names, DRAWN, wants_proof=False)
    (line,) = report.promises
    assert "precision falls without continuity: precision 1.000, without 0." in line.words
    assert line.holds
    assert [score(ledger, name).row.episodes for name in names] == [2, 2, 1]


def test_one_more_detector_costs_only_itself(tmp_path: Path) -> None:
    ran(tmp_path, silent())
    known = silent()
    report, _heard = ran(tmp_path, known, Seeing())
    assert known.learned_from == []
    assert len(report.rows) == 2


def test_the_results_of_another_draw_are_refused(tmp_path: Path) -> None:
    ResultsLedger(tmp_path, {"seed": 1})
    with pytest.raises(ResultsError, match="another run"):
        ResultsLedger(tmp_path, {"seed": 2})


def test_a_line_that_is_none_of_ours_is_named(tmp_path: Path) -> None:
    ran(tmp_path, silent())
    with (tmp_path / "results.jsonl").open("a") as out:
        out.write('{"episode": 3}\n')
    with pytest.raises(ResultsError, match=r"results\.jsonl, line 9"):
        ResultsLedger(tmp_path, DRAWN)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultsError, match="file"):
        ResultsLedger(tmp_path / "file" / "results", DRAWN)


def test_the_report_is_plain_json_with_the_fields_of_the_formats(tmp_path: Path) -> None:
    report, _heard = ran(tmp_path, Seeing(), silent())
    fields = json.loads(json.dumps(report.to_json()))
    assert {
        "detector", "split", "precision", "recall", "f1", "f1_low", "f1_high",
        "delay_p50_seconds", "delay_p90_seconds", "false_alarms_per_job_day",
        "false_alarms_upper_bound", "family_top1", "set_precision", "set_recall",
        "compute_seconds_per_second", "episodes", "healthy_job_hours",
    } <= set(fields["rows"][0])  # fmt: skip
    assert fields["settings"] == DRAWN
    assert fields["real"] == []


def test_the_order_of_the_kept_lines_changes_nothing(tmp_path: Path) -> None:
    before, _heard = ran(tmp_path, Seeing(), silent())
    for name in ("episodes.jsonl", "results.jsonl"):
        lines = (tmp_path / name).read_text().splitlines(keepends=True)
        (tmp_path / name).write_text("".join(reversed(lines)))
    after, heard = ran(tmp_path, Seeing(), silent())
    assert heard.stages == []
    assert after == before


def test_ours_alone_is_compared_with_nobody_and_so_are_rivals_alone(tmp_path: Path) -> None:
    ours, _heard = ran(tmp_path, Seeing())
    assert (ours.comparisons, ours.promises) == ({}, ())
    rivals, _heard = ran(tmp_path, silent(), silent("max_z"))
    assert (rivals.comparisons, rivals.promises) == ({}, ())


@pytest.mark.connected
def test_processes_of_their_own_find_the_same(tmp_path: Path) -> None:
    alone, _heard = ran(tmp_path / "alone", Seeing(), silent())
    ledger, heard = ResultsLedger(tmp_path / "two", DRAWN), Heard()
    run(SOURCE, (Seeing(), silent()), ledger, ProcessCrew(SOURCE, 2), heard)
    beside = report_on(ledger, ["paramedic", "minder"], DRAWN, wants_proof=False)
    assert [row.f1 for row in beside.rows] == [row.f1 for row in alone.rows]
    assert beside.slices == alone.slices
