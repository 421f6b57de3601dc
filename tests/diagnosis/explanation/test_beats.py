"""How a silence stands: who is compared with whom, and what the second channel says."""

from __future__ import annotations

import pytest

from paramedic.diagnosis.explanation.beats import of_beats
from paramedic.diagnosis.explanation.standing import Standing
from paramedic.diagnosis.liveness import Liveness
from paramedic.diagnosis.settings import SilenceSettings
from paramedic.diagnosis.silence import SilenceWatch
from paramedic.ingest.contract import Entity, JobName, NodeName, Table, TelemetryBatch

NAMES = tuple(NodeName(name) for name in "abcd")
A = NAMES[0]
SILENCE = SilenceWatch(SilenceSettings())


def liveness(
    seconds: int,
    silent_from: int = 10**9,
    *,
    names: tuple[NodeName, ...] = NAMES,
    stopped: float | None = 0.0,
    cpu: float = 0.4,
) -> Liveness:
    """Node a's rank is silent from a second on; its operating system says this (None: nothing)."""
    found = Liveness(clock_tolerance_seconds=5)
    for second in range(100, 100 + seconds):
        is_silent = second >= 100 + silent_from
        beating = names[1:] if is_silent else names
        heard = names[1:] if is_silent and stopped is None else names
        ranks = Table(
            Entity.RANK,
            beating,
            tuple(names.index(name) for name in beating),
            {"heartbeat": [1.0] * len(beating)},
        )
        hosts = Table(
            Entity.NODE,
            heard,
            None,
            {
                "process_stopped": [stopped if name == A and stopped else 0.0 for name in heard],
                "cpu_utilization_ratio": [cpu if name == A else 0.4 for name in heard],
            },
        )
        found.observe(TelemetryBatch(JobName("j"), 0, second, (ranks, hosts)), ())
    return found


def standing(found: Liveness) -> Standing:
    (one,) = of_beats(A, found, SILENCE)
    return one


def test_a_rank_that_beats_is_silent_for_no_time() -> None:
    one = standing(liveness(10))
    assert (one.evidence, one.level, one.since, one.share) == (0.0, 10.0, None, 0.0)
    assert one.note == "its heart-beats go on"
    assert (one.subject.entity, one.subject.index) == (Entity.RANK, 0)


def test_a_silence_is_counted_from_the_last_beat() -> None:
    one = standing(liveness(10, silent_from=4))
    assert (one.evidence, one.share) == (6.0, 0.6)
    assert one.since is not None
    assert one.since.timestamp() == 103


@pytest.mark.parametrize(
    ("stopped", "cpu", "words"),
    [
        (0.0, 0.4, "its process is alive and works, which contradicts the silence"),
        (1.0, 0.4, "its process is stopped, or uses no CPU: that confirms the silence"),
        (0.0, 0.0, "its process is stopped, or uses no CPU: that confirms the silence"),
        (None, 0.4, "its operating system has been silent for 12 s too"),
    ],
)
def test_the_second_channel_has_its_say(stopped: float | None, cpu: float, words: str) -> None:
    assert standing(liveness(18, 6, stopped=stopped, cpu=cpu)).note == words


def test_a_rank_is_judged_after_some_beats_and_against_others() -> None:
    young = standing(liveness(2))
    assert young.note == "2 heart-beats were heard of it"
    assert [one.text for one in young.holds] == [
        "a rank is judged after some heart-beats have been heard of it (2 of 3 heart-beats)"
    ]
    alone = standing(liveness(10, names=NAMES[:1]))
    assert (alone.evidence, alone.share) == (None, 0.0)
    assert "nobody to compare it with" in alone.note


def test_of_a_rank_that_only_makes_steps_no_silence_is_counted() -> None:
    found = liveness(10)
    steps = Table(Entity.RANK, (A,), (9,), {"step": [4.0]})
    found.observe(TelemetryBatch(JobName("j"), 0, 109, (steps,)), ())
    _, other = of_beats(A, found, SILENCE)
    assert (other.evidence, other.share) == (None, 0.0)
    assert other.note == "no heart-beat has been heard of it"


def test_without_an_operating_system_no_second_channel_can_agree() -> None:
    found = liveness(10, silent_from=4)
    found.samples.clear()
    assert "no second channel" in standing(found).note


@pytest.mark.parametrize(
    ("lengths", "stopped", "level", "words"),
    [
        ((11, 9, 10), None, 13.5, ["come back from silences of 9 s", "(12 of 13.5 s)"]),
        ((7, 5, 6), None, 10.0, []),
        ((11, 9, 10), 1.0, 10.0, []),
    ],
    ids=["longer than this one", "that are over by now", "but the process is stopped"],
)
def test_where_samples_get_lost_the_silences_that_ended_are_told(
    lengths: tuple[int, ...], stopped: float | None, level: float, words: list[str]
) -> None:
    found = liveness(18, 6, stopped=stopped)
    for second, length in enumerate(lengths):
        found.pulses.ended.note(length, 100 + second)
    one = standing(found)
    assert (one.evidence, one.level) == (12.0, level)
    told = "".join(hold.text for hold in one.holds)
    assert all(part in told for part in words)
    assert bool(told) == bool(words)


def test_a_node_without_ranks_says_so() -> None:
    found = liveness(10)
    found.forget(A)
    one = standing(found)
    assert (one.subject.entity, one.evidence, one.level) == (Entity.NODE, None, None)
    assert "carries no rank" in one.note
