"""Process exits: named by their event at once, resolved when the job trains again."""

from __future__ import annotations

import pytest

from diagnosis.playing import Fact, diagnose, firing, merged
from diagnosis.synthetic import (
    START,
    Scene,
    event,
    exit_of,
    job_state,
    node_name,
)
from paramedic.diagnosis.contract import Fault, Phase, Severity, Status, Tier, Verdict
from paramedic.ingest.contract import EventKind

pytestmark = pytest.mark.long


DIED_AT = 50.25


def recovery(*ranks: int) -> list[Fact]:
    """A job that loses ranks, replaces them by spares and trains on in the next generation."""
    before = Scene(seconds=51, generation=0).batches()
    carried_by = {rank: 4 + at for at, rank in enumerate(ranks)}
    after = Scene(
        seconds=60, generation=1, nodes=carried_by, first_second=START + 54, seed=1
    ).batches()
    events = [
        job_state("training", 0),
        *(exit_of(rank, DIED_AT + rank / 100) for rank in ranks),
        job_state("recovering", 50.6),
        *(
            event(
                EventKind.MEMBERSHIP,
                51.0,
                node_name(rank),
                rank,
                1,
                change="replaced_by",
                by=node_name(spare),
            )
            for rank, spare in carried_by.items()
        ),
        job_state("training", 54.5, 1),
    ]
    return merged([*before, *after], events)


def test_an_exit_is_a_verdict_at_the_time_of_its_event() -> None:
    (verdict,) = diagnose([exit_of(2, DIED_AT)])
    assert (verdict.fault, verdict.tier, verdict.phase) == (
        Fault.PROCESS_EXIT,
        Tier.KNOWN_ERROR,
        Phase.FAILED,
    )
    assert (verdict.node, verdict.rank) == (node_name(2), 2)
    assert (verdict.severity, verdict.confidence) == (Severity.P1, 1.0)
    assert verdict.detected_at.timestamp() == START + DIED_AT
    assert "signal 9" in verdict.summary


@pytest.mark.parametrize(
    "harmless",
    [
        exit_of(2, DIED_AT, expected=True),
        event(EventKind.PROCESS_EXIT, DIED_AT, node_name(5), None, exit_code=1),
        event(EventKind.PROCESS_EXIT, DIED_AT, None, 2, exit_code=1),
    ],
    ids=["expected", "a spare", "no node"],
)
def test_an_exit_that_is_no_fault_of_a_rank_is_no_verdict(harmless: Fact) -> None:
    assert diagnose([harmless]) == []


def test_an_exit_that_the_launcher_brought_about_says_so_and_why() -> None:
    ended = event(
        EventKind.PROCESS_EXIT, DIED_AT, node_name(2), 2,
        signal=9, ended_by="launcher", reason="it did not become ready in 120 s",
    )  # fmt: skip
    (verdict,) = diagnose([ended])
    assert verdict.summary.endswith("the launcher ended it: it did not become ready in 120 s")
    (by_itself,) = diagnose([exit_of(2, DIED_AT)])
    assert by_itself.summary.endswith("nobody asked it to")


def test_exits_of_a_finished_job_are_no_verdicts() -> None:
    assert diagnose([job_state("finished", 50), exit_of(2, 50.5)]) == []


def test_the_same_exit_reported_twice_is_one_verdict() -> None:
    assert len(diagnose([exit_of(2, DIED_AT), exit_of(2, DIED_AT)])) == 1


def test_the_exit_is_resolved_when_the_job_trains_in_the_next_generation() -> None:
    fired, resolved = diagnose(recovery(2))
    assert (fired.status, resolved.status) == (Status.FIRING, Status.RESOLVED)
    assert fired.id == resolved.id
    assert resolved.detected_at.timestamp() == START + 54.5


def test_several_exits_in_one_recovery_are_several_verdicts() -> None:
    verdicts = diagnose(recovery(1, 3))
    assert [v.node for v in firing(verdicts)] == [node_name(1), node_name(3)]
    assert [v.status for v in verdicts[2:]] == [Status.RESOLVED] * 2


def test_a_hang_is_resolved_once_its_node_is_replaced() -> None:
    before = Scene(seconds=56, frozen={2: 50}).batches()
    after = Scene(seconds=40, generation=1, nodes={2: 4}, first_second=START + 60, seed=1).batches()
    events = [
        job_state("training", 0),
        exit_of(2, 56.1, expected=True),
        job_state("recovering", 56.2),
        event(EventKind.MEMBERSHIP, 57.0, node_name(2), 2, 1, change="replaced_by", by="node-0004"),
        job_state("training", 60.5, 1),
    ]
    fired, resolved = diagnose(merged([*before, *after], events))
    assert (fired.fault, resolved.status) == (Fault.HANG, Status.RESOLVED)
    assert resolved.id == fired.id


def slow_then(at: float, what: str) -> list[Verdict]:
    batches = Scene(seconds=int(at) + 1, slow={1: 2.0}, slow_from=30).batches()
    if what == "frozen":
        batches = Scene(seconds=100, slow={1: 2.0}, slow_from=30, frozen={1: int(at)}).batches()
    return diagnose(merged(batches, [] if what == "frozen" else [exit_of(1, at)]))


def test_a_straggler_that_hangs_is_updated() -> None:
    fired, updated = slow_then(70, "frozen")
    assert (fired.fault, updated.fault) == (Fault.STRAGGLER, Fault.HANG)
    assert (updated.status, updated.id) == (Status.UPDATED, fired.id)


def test_a_straggler_that_dies_is_a_second_verdict() -> None:
    slow, dead = slow_then(70.5, "dead")
    assert (slow.fault, dead.fault) == (Fault.STRAGGLER, Fault.PROCESS_EXIT)
    assert slow.id != dead.id


def test_what_is_open_ends_with_the_job() -> None:
    facts = merged(Scene(slow={1: 2.0}).batches(), [job_state("finished", 119)])
    assert [v.status for v in diagnose(facts)] == [Status.FIRING, Status.RESOLVED]
