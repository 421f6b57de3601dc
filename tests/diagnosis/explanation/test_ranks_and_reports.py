"""How slowness and what drivers tell stand, each by itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from diagnosis.synthetic import JOB, START, event, job_state, node_name
from paramedic.diagnosis.contract import Severity
from paramedic.diagnosis.explanation.ranks import RankEvidence
from paramedic.diagnosis.explanation.reports import of_reports
from paramedic.diagnosis.explanation.standing import Standing
from paramedic.diagnosis.known_errors.memory import KnownErrorMemory
from paramedic.diagnosis.known_errors.reading import shipped_known_errors
from paramedic.diagnosis.known_errors.report import (
    Place,
    Report,
    report_of_event,
    report_of_recovery,
)
from paramedic.diagnosis.picture import JobPicture
from paramedic.diagnosis.settings import StragglerSettings
from paramedic.diagnosis.straggler import StragglerWatch
from paramedic.ingest.contract import Entity, EntityKey, EventKind, Window
from paramedic.models.contract import AnomalyScores

KNOWN = shipped_known_errors()
ROWS = tuple(EntityKey(Entity.RANK, node_name(rank), rank) for rank in range(4))
METRICS = ("compute_seconds", "collective_seconds")
SETTINGS = StragglerSettings()


def slots(count: int, slow: float = 4.0, waits: float = -2.0) -> StragglerWatch:
    """Rank 2 deviates so much and takes 0.5 s where its peers take 0.25 s."""
    watch = StragglerWatch(SETTINGS)
    values = np.array([[0.25, 0.1], [0.25, 0.1], [0.5, 0.01], [0.25, 0.1]])
    peers = np.array([[0.25, 0.1]] * 4)
    deviation = np.array([[0.0, 0.0], [0.0, 0.0], [slow, waits], [0.0, 0.0]])
    for second in range(count):
        watch.weigh(AnomalyScores(START + 40 + second, ROWS, METRICS, deviation, values, peers))
    return watch


def picture() -> JobPicture:
    found = JobPicture()
    found.see(START, 0)
    found.record(job_state("training", 0))
    return found


def told(computing: Sequence[float]) -> Window:
    """What each rank has computed a step, for as long as the window is."""
    values = np.repeat(np.array(computing, np.float32)[:, None, None], 10, axis=2)
    return Window(JOB, 0, Entity.RANK, START + 41, ROWS, METRICS[:1], values, ~np.isnan(values))


def of(
    watch: StragglerWatch, rank: int = 2, computing: Sequence[float] = (0.25, 0.25, 0.5, 0.25)
) -> list[Standing]:
    evidence = RankEvidence(watch, SETTINGS, picture(), START + 50, told(computing))
    return list(evidence.of(node_name(rank)))


def test_slowness_adds_up_slot_by_slot_from_its_first() -> None:
    shares = []
    for count in (1, 3, 5):
        (one,) = of(slots(count))
        assert one.since is not None
        assert one.since.timestamp() == START + 40
        assert one.evidence == pytest.approx(count * (4.0 - SETTINGS.allowance))
        shares.append(one.share)
    assert shares == sorted(shares)
    assert one.level is not None
    assert one.level > 15
    assert one.note == "500 ms a step against 250 ms of its peers"


def test_a_rank_that_waits_for_others_is_called_a_victim() -> None:
    (one,) = of(slots(4, waits=3.0))
    (hold,) = one.holds
    assert hold.why.startswith("it waits for others itself, so it counts as a victim")
    assert hold.now == pytest.approx(3.0)
    assert hold.needed == SETTINGS.longest_wait_deviation


@pytest.mark.parametrize(("step_seconds", "held"), [(6.0, "(4.17 of 5 % of a step)"), (4.0, "")])
def test_what_is_too_small_a_part_of_a_step_is_held_back(step_seconds: float, held: str) -> None:
    """A rank takes a quarter of a second longer than the others, and nothing has added up."""
    watch, names = slots(0), (*METRICS, "step_seconds")
    values = np.array([[0.25, 0.1, step_seconds]] * 4)
    watch.weigh(AnomalyScores(START + 49, ROWS, names, np.zeros((4, 3)), values, values))
    (one,) = of(watch)
    assert (
        one.note == "500 ms a step against 250 ms of its peers, of which nothing has added up yet"
    )
    assert "".join(hold.text for hold in one.holds).endswith(held)
    assert bool(one.holds) == bool(held)


def test_where_most_ranks_are_far_out_that_is_told_until_it_is_over() -> None:
    watch, far = slots(3), SETTINGS.turmoil_deviation + 1
    values = np.array([[0.25, 0.1], [0.5, 0.1], [0.5, 0.1], [0.5, 0.1]])
    for second, deviations, held in ((45, (0.0, far, far, far), True), (46, (0.0,) * 4, False)):
        deviation = np.array([[one, 0.0] for one in deviations])
        watch.weigh(AnomalyScores(START + second, ROWS, METRICS, deviation, values, values))
        (one,) = of(watch)
        texts = [hold.text for hold in one.holds if "befalls the job" in hold.why]
        assert bool(texts) is held
        assert all("(75 % of the ranks, where 50 are the most)" in text for text in texts)


def test_a_rank_like_its_peers_has_nothing_against_it() -> None:
    (one,) = of(slots(4), rank=1)
    assert (one.evidence, one.since, one.share) == (0.0, None, 0.0)
    assert one.note == "it computes no longer than its peers (250 ms a step against 250 ms)"


@pytest.mark.parametrize(
    ("computing", "words"),
    [
        ((5.0, 0.25), "5 s a step against 0.25 s of its peers, of which nothing has added up yet"),
        ((0.265, 0.25), "265 ms a step against 250 ms of its peers, of which nothing has added up"),
        ((math.nan, 0.25), "it, or everybody else, has told of no such time lately"),
        ((0.25, math.nan), "it, or everybody else, has told of no such time lately"),
    ],
)
def test_no_words_say_what_the_numbers_do_not(computing: tuple[float, float], words: str) -> None:
    """Nothing has added up, and it takes many times as long: that is not `no longer`."""
    watch = slots(4)
    own, others = computing
    values = np.array([[0.25, 0.1, 1.0]] * 4)
    names = (*METRICS, "step_seconds")
    watch.weigh(AnomalyScores(START + 49, ROWS, names, np.zeros((4, 3)), values, values))
    (one,) = of(watch, 1, (others, own, others, others))
    assert one.note.startswith(words)


def test_a_node_without_steps_says_that() -> None:
    (one,) = of(slots(0))
    assert (one.subject.entity, one.evidence) == (Entity.NODE, None)
    assert one.note == "no rank of it has told of its steps"


def test_the_standing_is_what_the_watch_decides_by() -> None:
    """Somebody is accused in the very slot in which the share reaches 1."""
    watch, accused = StragglerWatch(SETTINGS), False
    values = np.array([[0.25], [0.25], [0.5], [0.25]])
    peers, deviation = np.full((4, 1), 0.25), np.array([[0.0], [0.0], [4.0], [0.0]])
    for second in range(12):
        scores = AnomalyScores(START + second, ROWS, METRICS[:1], deviation, values, peers)
        accused = bool(watch.weigh(scores))
        assert accused == (of(watch)[0].share >= 1)
    assert accused


def remembered(reports: Sequence[Report | None]) -> KnownErrorMemory:
    memory = KnownErrorMemory()
    for one in reports:
        assert one is not None
        memory.add(one)
    return memory


def xid(code: int, gpu: int = 0, **details: bool) -> Report | None:
    told = replace(event(EventKind.XID, 5, node_name(1), xid=code, **details), gpu=gpu)
    return report_of_event(told, KNOWN)


def test_each_code_is_told_with_what_it_means_and_whether_it_accuses() -> None:
    found = list(of_reports(node_name(1), remembered([xid(79), xid(43, 1), xid(9999, 2)])))
    told = [(one.kind, one.subject.index, one.share) for one in found]
    assert told == [("xid 79", 0, 1.0), ("xid 43", 1, 0.0), ("xid 9999", 2, 0.0)]
    assert all(one.since is not None for one in found)
    assert found[0].note.endswith(f"it accuses, as {Severity.P1.value}")
    assert found[2].note == "nobody knows this code; it never accuses by itself"


def test_a_code_that_stood_already_accuses_nobody() -> None:
    (one,) = of_reports(node_name(1), remembered([xid(79, sticky=True)]))
    assert (one.share, one.note.partition("; ")[2]) == (0.0, "it never accuses by itself")


def test_what_the_driver_asks_for_of_a_whole_node_is_about_the_node() -> None:
    place = Place(node_name(1), None)
    asked = report_of_recovery(place, 2, job_state("training", 3).timestamp, KNOWN, is_held=True)
    (one,) = of_reports(node_name(1), remembered([asked]))
    assert one.subject == EntityKey(Entity.NODE, node_name(1))
    assert one.kind == "gpu_recovery_action"


def test_another_nodes_codes_are_not_told() -> None:
    (one,) = of_reports(node_name(2), remembered([xid(79)]))
    assert (one.kind, one.evidence, one.level) == ("known_errors", 0.0, 1.0)
