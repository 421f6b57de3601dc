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
    assert "2 heart-beats were heard of it; it is judged after 3" in standing(liveness(2)).note
    alone = standing(liveness(10, names=NAMES[:1]))
    assert (alone.evidence, alone.share) == (None, 0.0)
    assert "nobody to compare it with" in alone.note


def test_without_an_operating_system_no_second_channel_can_agree() -> None:
    found = liveness(10, silent_from=4)
    found.samples.clear()
    assert "no second channel" in standing(found).note


def test_where_samples_get_lost_the_silences_that_ended_are_told() -> None:
    found = liveness(18, 6, stopped=None)
    for second, length in enumerate((7, 5, 6)):
        found.pulses.ended.note(length, 100 + second)
    assert standing(found).note.endswith(
        "12 s too; ranks of this job have come back from silences of 5 s"
    )


def test_a_node_without_ranks_says_so() -> None:
    found = liveness(10)
    found.forget(A)
    one = standing(found)
    assert (one.subject.entity, one.evidence, one.level) == (Entity.NODE, None, None)
    assert "carries no rank" in one.note
