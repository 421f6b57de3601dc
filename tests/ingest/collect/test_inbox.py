"""What waits to be cleaned is bounded, and what is lost is counted."""

from __future__ import annotations

import threading

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
