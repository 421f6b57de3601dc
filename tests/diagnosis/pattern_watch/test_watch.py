"""Scoring of jobs that run, in virtual time: warm at once, within budget, through any change."""

from __future__ import annotations

import logging

import pytest

from diagnosis.pattern_watch.makings import JOB, SLOTS, Access, windows_at
from models.registry.models_of_ours import METRICS
from paramedic.diagnosis.pattern_watch.feed import JobFeed
from paramedic.diagnosis.pattern_watch.watch import PatternWatch, PatternWatchConfig
from paramedic.ingest.contract import JobName
from paramedic.models.drift.watch import DriftConfig


class Play:
    """A job that is judged, second by second, and scored whenever the rest is over."""

    def __init__(self, seconds_a_slot: float = 0.0, budget_ratio: float = 0.5) -> None:
        self.access = Access(seconds_a_slot=seconds_a_slot)
        self.clock = self.access.clock
        config = PatternWatchConfig(budget_ratio=budget_ratio)
        self.watch = PatternWatch(config, self.access.access(), self.clock)
        self.feed: JobFeed = self.watch.follow(JOB)
        self.at = -1
        self.wakes = 0.0
        self.worked = 0.0

    def seconds(self, number: int, **windows: object) -> None:
        """Slots close on the second, whatever scoring is at: it works beside."""
        for _ in range(number):
            self.at += 1
            second = float(self.at)
            self.clock.now = second
            self.feed.offer(windows_at(self.at, **windows))  # type: ignore[arg-type]
            while self.wakes <= second:
                self._turn(max(self.wakes, second))

    def _turn(self, now: float) -> None:
        self.clock.now = now
        rest = self.watch.turn()
        assert rest is not None
        self.worked += self.clock.now - now
        self.wakes = self.clock.now + rest

    def seen(self, model: int = -1, scorer: int = -1) -> list[int]:
        return self.access.opened[model].scorers[scorer].seen

    @property
    def counts(self) -> dict[str, int]:
        return {name: n for name, n in self.watch.report.counts.items() if n}


def test_no_model_is_looked_for_before_a_window_is_full() -> None:
    play = Play()
    play.access.promote(None)
    play.seconds(SLOTS - 1)
    assert (play.access.looks, play.watch.report.jobs) == (0, {})
    play.seconds(1)
    assert play.access.looks == 1


def test_a_job_is_scored_from_the_whole_window_on_and_then_every_slot_once() -> None:
    play = Play()
    play.access.promote(2)
    play.seconds(20)
    assert play.seen() == list(range(1, 20))
    assert play.access.opened[0].read[0].seen == play.seen()
    job = play.watch.report.jobs[JOB]
    assert (job.model, job.version, job.oddest_nats) == ("small", 2, 19.0)
    assert play.counts == {"scorers_built": 1, "slots_scored": 13}


def test_a_promoted_version_begins_with_what_the_windows_hold_and_nothing_is_skipped() -> None:
    play = Play()
    play.access.promote(1)
    play.seconds(20)
    play.access.promote(2)
    play.seconds(10)
    assert play.watch.report.jobs[JOB].version == 2
    old, new = play.seen(0), play.seen(1)
    assert new == list(range(new[0], 30))
    assert old[-1] + 1 in new[: SLOTS + 1]
    assert play.counts["scorers_built"] == 2
    assert "slots_skipped" not in play.counts


def test_other_rows_give_another_scorer_that_knows_the_window() -> None:
    play = Play()
    play.access.promote(1)
    play.seconds(20)
    play.seconds(5, nodes=4)
    first, second = play.access.opened[0].scorers
    assert (first.rows, second.rows) == (3, 4)
    assert second.seen == list(range(15, 25))


def test_a_job_that_is_too_large_takes_its_budget_and_the_rest_is_counted() -> None:
    play = Play(seconds_a_slot=2.0, budget_ratio=0.25)
    play.access.promote(1)
    play.seconds(400)
    assert play.worked <= 0.25 * 400 + 2.0 * 8
    report = play.watch.report
    assert report.scoring_seconds == pytest.approx(play.worked)
    assert report.counts["slots_scored"] > 30
    waiting = 400 - 1 - play.seen()[-1]
    taken = report.counts["slots_scored"] + report.counts["slots_skipped"]
    assert SLOTS + taken <= 400 <= SLOTS + taken + waiting + 8


def test_a_refused_version_leaves_scores_and_windows_alone() -> None:
    play = Play()
    play.access.unusable = {2}
    play.access.promote(1)
    play.seconds(20)
    play.access.promote(2)
    play.seconds(20)
    assert play.watch.report.jobs[JOB].version == 1
    assert play.seen() == list(range(1, 40))
    assert play.counts["models_refused"] == 1


def test_what_does_not_fit_is_named_and_told_once(caplog: pytest.LogCaptureFixture) -> None:
    play = Play()
    play.access.promote(1)
    with caplog.at_level(logging.INFO):
        play.seconds(30, metrics=("gpu_fan_ratio", METRICS[0]))
    fit = play.watch.report.jobs[JOB].fit
    assert (fit.missing, fit.new) == ((METRICS[1],), ("gpu_fan_ratio",))
    told = [one.message for one in caplog.records if JOB in one.message]
    assert len(told) == 2
    assert f"do not arrive ({METRICS[1]}): it judges by the other 1" in told[0]


def test_a_metric_that_ceases_is_missing_once_the_window_holds_none_of_it() -> None:
    play = Play()
    play.access.promote(1)
    play.seconds(20)
    play.seconds(SLOTS - 1, absent=(METRICS[0],))
    assert play.watch.report.jobs[JOB].fit.is_whole
    play.seconds(1, absent=(METRICS[0],))
    assert play.watch.report.jobs[JOB].fit.missing == (METRICS[0],)


def test_drift_is_told_when_its_window_closes(caplog: pytest.LogCaptureFixture) -> None:
    play = Play()
    play.access.promote(1)
    play.seconds(SLOTS)
    model = play.access.opened[0]
    model.watch = DriftConfig(window_seconds=10).build(model.model.artifact)
    for one in model.watch._counts.values():  # all values lie far above those of training
        one.counts[:, -1] = 500
    play.seconds(6)
    before = play.watch.report.drift
    play.seconds(8)
    drift = play.watch.report.drift
    assert before is None
    assert drift is not None
    assert {one.metric for one in drift.drifted} == set(METRICS)
    assert "input of gpu_power_watts has drifted since training: " in caplog.text


def test_a_job_that_is_silent_is_let_go_and_begins_anew_with_its_window() -> None:
    play = Play()
    play.access.promote(1)
    play.seconds(20)
    play.clock.now = 400.0
    play.watch.turn()
    assert play.watch.report.jobs == {}
    play.at = play.wakes = 400
    play.seconds(3)
    play.seconds(3)
    assert play.seen()[-1] == play.at
    assert play.watch.report.jobs[JOB].version == 1


def test_a_job_whose_detector_is_gone_is_forgotten_and_another_of_its_name_is_followed() -> None:
    play = Play()
    play.access.promote(1)
    play.seconds(20)
    play.feed = play.watch.follow(JOB)
    play.watch.turn()
    assert play.watch.report.jobs == {}
    play.at = -1
    play.wakes = 0.0
    play.seconds(SLOTS + 3)
    assert list(play.watch.report.jobs) == [JOB]
    assert play.seen()[-1] == SLOTS + 2


def test_jobs_share_a_model_and_each_has_a_scorer_of_its_own() -> None:
    play = Play()
    other = play.watch.follow(JobName("other"))
    play.access.promote(1)
    for at in range(SLOTS):
        other.offer(windows_at(at, nodes=5))
    play.seconds(SLOTS + 2)
    other.offer(windows_at(SLOTS, nodes=5))
    play.seconds(1)
    (model,) = play.access.opened
    assert {one.rows: one.seen[-1] for one in model.scorers} == {3: play.at, 5: SLOTS}
    assert set(play.watch.report.jobs) == {JOB, JobName("other")}


def test_a_job_that_cannot_be_scored_ends_alone_with_one_line_until_another_model_comes(
    caplog: pytest.LogCaptureFixture,
) -> None:
    play = Play()
    other = play.watch.follow(JobName("other"))
    play.access.promote(1)
    for at in range(SLOTS):
        other.offer(windows_at(at, nodes=5))
    play.seconds(SLOTS + 4)
    play.access.failing_rows.add(3)
    play.seconds(10)
    other.offer(windows_at(SLOTS, nodes=5))
    play.seconds(1)
    assert set(play.watch.report.jobs) == {JobName("other")}
    assert play.access.opened[0].scorers[1].seen[-1] == SLOTS
    assert play.counts["jobs_failed"] == 1
    (line,) = [one.message for one in caplog.records if JOB in one.message]
    assert line.startswith(f"job {JOB}: scoring has failed and is over for this job until another ")
    assert r"IndexError('out of\nbounds') at watch.py:" in line
    assert " > makings.py:" in line
    assert play.feed.take() == ()
    play.access.failing_rows.clear()
    play.access.promote(2)
    play.seconds(3)
    assert play.watch.report.jobs[JOB].version == 2
    assert play.seen()[-1] == play.at


def test_a_turn_that_is_to_end_takes_up_no_further_job() -> None:
    play = Play()
    play.access.promote(1)
    play.seconds(SLOTS + 2)
    seen = list(play.seen())
    play.watch.ending.set()
    play.seconds(5)
    assert play.seen() == seen


@pytest.mark.parametrize("ratio", [0.0, -1.0, 1.5, float("nan")])
def test_a_budget_that_is_none_is_refused(ratio: float) -> None:
    with pytest.raises(ValueError, match="budget_ratio"):
        PatternWatchConfig(budget_ratio=ratio)
