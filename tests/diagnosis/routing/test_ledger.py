"""A sink that accepts each slot once, in bounded memory."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from paramedic.diagnosis.routing.ledger import SlotKey, SlotLedger
from paramedic.ingest.contract import JobName, TelemetryBatch

JOB, OTHER = JobName("llama-7b"), JobName("other")


def key(second: int, shard: int = 0, generation: int = 0, job: JobName = JOB) -> SlotKey:
    return SlotKey(job, shard, second, generation)


def test_a_slot_is_told_by_job_shard_second_and_generation() -> None:
    ledger = SlotLedger(60)
    different = [key(100), key(100, shard=1), key(100, generation=1), key(101), key(100, job=OTHER)]
    assert [ledger.accept(one) for one in different] == [True] * 5
    assert [ledger.accept(one) for one in different] == [False] * 5
    assert (ledger.accepted, ledger.repeated) == (5, 5)


def test_the_key_of_a_slot_is_what_it_says_of_itself() -> None:
    slot = TelemetryBatch(JOB, generation=2, second=100, tables=(), shard=3, shards=4)
    assert SlotKey.of(slot) == key(100, shard=3, generation=2)


def test_what_is_older_than_the_first_of_its_shard_was_there_before() -> None:
    ledger = SlotLedger(60)
    assert ledger.accept(key(100))
    assert not ledger.accept(key(99))
    assert ledger.accept(key(99, shard=1))


def test_a_jump_of_time_makes_the_past_repeats_and_not_the_future() -> None:
    ledger = SlotLedger(60)
    ledger.accept(key(100))
    assert ledger.accept(key(1000))
    assert not ledger.accept(key(939))
    assert ledger.accept(key(941)), "younger than the memory, and never seen"


def test_a_job_that_is_over_is_forgotten() -> None:
    ledger = SlotLedger(60)
    ledger.accept(key(100))
    ledger.accept(key(100, job=OTHER))
    ledger.forget(JOB)
    assert len(ledger) == 1
    assert ledger.accept(key(50))


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 2)), min_size=1, max_size=200))
def test_whatever_comes_is_accepted_at_most_once_and_memory_is_bounded(
    slots: list[tuple[int, int]],
) -> None:
    ledger = SlotLedger(60)
    taken = [(second, shard) for second, shard in slots if ledger.accept(key(second, shard))]
    assert len(taken) == len(set(taken))
    assert len(ledger) <= 3 * 61
    assert ledger.accepted + ledger.repeated == len(slots)


@given(st.integers(0, 30), st.lists(st.integers(1, 25), max_size=6))
def test_a_shard_that_begins_again_earlier_after_each_crash_loses_nothing(
    first: int, crashes: list[int]
) -> None:
    ledger, taken, at = SlotLedger(60), list[int](), first
    for back in [*crashes, 1]:
        taken += [second for second in range(at, at + 40) if ledger.accept(key(second))]
        at = max(first, at + 40 - back)
    assert taken == list(range(first, taken[-1] + 1))
