"""Processes that nobody saw end, by the memory that their cards have given back."""

from __future__ import annotations

from collections.abc import Collection

from diagnosis.cards import ROWS, START, key, slot
from paramedic.diagnosis.exits import Ending
from paramedic.diagnosis.freed_memory import METRIC, FreedMemory
from paramedic.ingest.contract import EntityKey

FREED_AT = 20


def ends(
    freed: Collection[EntityKey], seconds: int, held: float = 6e10, departed: Collection[str] = ()
) -> list[Ending]:
    watch = FreedMemory()
    found: list[Ending] = []
    for at in range(seconds):
        now = {row: {METRIC: 1e9} for row in freed} if at >= FREED_AT else {}
        window = slot(at, {METRIC: held}, other=now)
        found.extend(watch.look(window, 0, frozenset(departed)))  # type: ignore[arg-type]
    return found


def test_a_card_whose_memory_is_free_has_lost_its_process() -> None:
    assert ends([key(1, 2)], FREED_AT + 2) == []
    (ending,) = ends([key(1, 2)], FREED_AT + 3)
    assert (ending.who, ending.at) == (("n1", -1, 2), START + FREED_AT)
    summary = ending.finding().summary
    assert summary.startswith("the process on GPU 2 of n1 has ended, as the memory of its card")


def test_when_most_have_given_it_back_the_job_is_over() -> None:
    assert ends(ROWS[3:], FREED_AT + 20) == []


def test_little_memory_and_nodes_that_have_left_say_nothing() -> None:
    assert ends([key(1, 2)], FREED_AT + 9, held=2e9) == []
    assert ends([key(1, 2)], FREED_AT + 9, departed=["n1"]) == []


def test_without_that_metric_nothing_is_said() -> None:
    watch = FreedMemory()
    assert list(watch.look(slot(0, {"gpu_power_watts": 1.0}), 0, ())) == []
