"""What waits to be cleaned is bounded, and what is lost is counted."""

from __future__ import annotations

import threading

from hypothesis import given
from hypothesis import strategies as st

from paramedic.ingest.collect.inbox import Inbox, Silence
from paramedic.ingest.contract import EventKind, NodeName
from paramedic.ingest.sources.port import NodeFact, RawPage


def page(values: int) -> RawPage:
    return RawPage("origin", 0.0, (), (0.0,) * values)


def never(_condition: threading.Condition, _seconds: float) -> bool:
    return False


def test_what_sources_hand_over_comes_out_in_order() -> None:
    inbox = Inbox(10_000, 0.0)
    fact = NodeFact(0.0, EventKind.XID, NodeName("a"))
    first = page(3)
    inbox.page(first)
    inbox.fact(fact)
    inbox.silent("origin", None, "refused")
    assert inbox.take(0.0) == [first, fact, Silence("origin", None, "refused")]
    assert inbox.take(0.0) == []


def test_when_full_a_source_waits_and_then_loses_its_page() -> None:
    waits: list[float] = []

    def wait(_condition: threading.Condition, seconds: float) -> bool:
        waits.append(seconds)
        return False

    inbox = Inbox(1000, 0.5, wait)
    kept = page(900)
    inbox.page(kept)
    inbox.page(page(900))
    inbox.fact(NodeFact(0.0, EventKind.XID, NodeName("a")))
    assert (inbox.take(0.0), waits[:1]) == (
        [kept, NodeFact(0.0, EventKind.XID, NodeName("a"))],
        [0.5],
    )
    assert inbox.dropped == {"page": 1}


def test_a_page_that_is_larger_than_the_whole_inbox_is_taken_when_nothing_waits() -> None:
    inbox = Inbox(1000, 0.0, never)
    inbox.page(page(5000))
    inbox.silent("origin", None, "refused")
    assert len(inbox) == 1
    assert inbox.dropped == {"silence": 1}


def test_room_that_is_made_meanwhile_is_used() -> None:
    inbox = Inbox(1000, 10.0)
    inbox.page(page(900))
    source = threading.Thread(target=inbox.page, args=(page(900),))
    source.start()
    taken = 0
    while taken < 2:
        taken += len(inbox.take(5.0))
    source.join(5)
    assert inbox.dropped == {}


@given(st.lists(st.one_of(st.integers(0, 700), st.none()), max_size=40))
def test_what_is_taken_is_what_found_room_in_its_order(steps: list[int | None]) -> None:
    inbox = Inbox(1000, 0.0, never)
    given_pages: list[RawPage] = []
    taken: list[object] = []
    held = 0
    for step in steps:
        if step is None:
            taken += inbox.take(0.0)
            held = 0
            continue
        offered = page(step)
        weight = max(step, 100)
        if held == 0 or held + weight <= 1000:
            held += weight
            given_pages.append(offered)
        inbox.page(offered)
        assert held <= 1000
    taken += inbox.take(0.0)
    assert [id(one) for one in taken] == [id(one) for one in given_pages]
    offers = sum(step is not None for step in steps)
    assert inbox.dropped["page"] == offers - len(given_pages)
