"""Jobs are told of declared maintenance, each once, whatever fails in between."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from paramedic.ingest.contract import (
    BusUnavailableError,
    Event,
    EventKind,
    JobName,
    NodeName,
    Start,
    Topic,
    parse_time,
)
from paramedic.remediation.bookkeeping import Bookkeeping
from paramedic.remediation.contract import Maintenance
from paramedic.remediation.herald import Herald
from paramedic.remediation.store.store import Store

BuildEvent = Callable[..., Event]
At = Callable[[float], datetime]
LLAMA, MIXTRAL = JobName("llama"), JobName("mixtral")
NODES = (NodeName("node-0001"), NodeName("node-0002"))
HOUR = 3600.0


class Scene:
    """A database, a bus, and a herald who is sent round at moments."""

    def __init__(self, house: Any, at: At) -> None:
        self.store: Store = house.store
        self.bus = house.bus
        self.at = at
        self.said = self.bus.subscribe((Topic.EVENTS,), Start.LATEST)
        self.herald = Herald()

    def declare(self, one: str, nodes: tuple[NodeName, ...], job: JobName | None = None) -> None:
        begins, ends = self.at(60), self.at(2 * HOUR)
        self.store.declare(Maintenance(one, nodes, job, begins, ends, "new optics", self.at(0)))

    def join(self, node: NodeName, job: JobName, change: str = "joined", second: float = 0) -> None:
        details = {"change": change}
        event = Event(self.at(second), EventKind.MEMBERSHIP, job, node, rank=0, details=details)
        Bookkeeping(self.store).take(event)

    def heard(self, second: float) -> list[Event]:
        self.herald.tell(self.store, self.bus.publisher(), self.at(second))
        return [Event.from_json(message.payload) for message in self.said.poll(0)]

    def told(self, one: str) -> tuple[JobName, ...]:
        with self.store.reading() as view:
            found = view.maintenance.get(one)
        assert found is not None
        return found.told_jobs


@pytest.fixture
def scene(house: Any, at: At) -> Scene:
    return Scene(house, at)


def test_each_job_that_has_a_node_is_told_once(scene: Scene) -> None:
    scene.join(NODES[0], LLAMA)
    scene.join(NODES[1], MIXTRAL)
    scene.declare("m1", NODES)
    first, second = scene.heard(1)
    assert {(first.job, first.node), (second.job, second.node)} == {
        (LLAMA, NODES[0]),
        (MIXTRAL, NODES[1]),
    }
    assert first.kind is EventKind.MAINTENANCE
    assert first.details["change"] == "declared"
    assert parse_time(str(first.details["begins"])) == scene.at(60)
    assert parse_time(str(first.details["ends"])) == scene.at(2 * HOUR)
    assert first.details["reason"] == "new optics"
    assert scene.told("m1") == (LLAMA, MIXTRAL)
    assert scene.heard(10) == []


def test_a_job_that_gets_the_node_later_is_told_then_and_one_that_is_over_is_not(
    scene: Scene,
) -> None:
    scene.declare("m1", NODES[:1])
    assert scene.heard(1) == []
    scene.join(NODES[0], LLAMA, second=2)
    assert [one.job for one in scene.heard(3)] == [LLAMA]
    over = Event(scene.at(4), EventKind.JOB_STATE, MIXTRAL, details={"state": "finished"})
    scene.join(NODES[0], MIXTRAL, second=4)
    Bookkeeping(scene.store).take(over)
    assert scene.heard(6) == []


def test_a_node_that_has_left_is_not_told_of(scene: Scene) -> None:
    scene.join(NODES[0], LLAMA)
    scene.join(NODES[0], LLAMA, "left", second=1)
    scene.declare("m1", NODES[:1])
    assert scene.heard(2) == []


def test_a_whole_job_is_told_by_its_name_even_before_it_begins(scene: Scene) -> None:
    scene.declare("m1", (), LLAMA)
    (event,) = scene.heard(1)
    assert (event.job, event.node) == (LLAMA, None)


def test_its_end_by_hand_goes_to_whoever_was_told(scene: Scene) -> None:
    scene.join(NODES[0], LLAMA)
    scene.declare("m1", NODES[:1])
    scene.heard(1)
    ended = scene.store.end("m1", scene.at(600))
    assert ended is not None
    assert ended.over_at == scene.at(600)
    (event,) = scene.heard(601)
    assert event.details["change"] == "ended"
    assert parse_time(str(event.details["ends"])) == scene.at(600)
    assert scene.heard(700) == []


def test_what_is_withdrawn_before_anybody_was_told_is_not_told(scene: Scene) -> None:
    scene.declare("m1", (), LLAMA)
    scene.store.end("m1", scene.at(0.5))
    assert scene.heard(1) == []


def test_it_is_told_again_while_it_lasts_and_not_when_it_is_over(scene: Scene) -> None:
    scene.store.declare(
        Maintenance("m1", (), LLAMA, scene.at(0), scene.at(8 * HOUR), "long", scene.at(0))
    )
    assert [len(scene.heard(hour * HOUR)) for hour in (0.1, 3, 6.2, 7, 8.1, 13)] == [
        1, 0, 1, 0, 0, 0,
    ]  # fmt: skip


def test_a_word_that_the_bus_did_not_take_is_told_later(scene: Scene) -> None:
    scene.declare("m1", (), LLAMA)
    scene.bus.fail("unplugged")
    with pytest.raises(BusUnavailableError):
        scene.heard(1)
    scene.bus.heal()
    scene.said = scene.bus.subscribe((Topic.EVENTS,), Start.LATEST)
    assert len(scene.heard(1.1)) == 1


def test_the_same_declaration_again_changes_nothing_and_ending_twice_neither(scene: Scene) -> None:
    scene.declare("m1", NODES)
    scene.declare("m1", NODES[:1])
    first = scene.store.end("m1", scene.at(100))
    again = scene.store.end("m1", scene.at(200))
    assert first == again
    assert first is not None
    assert first.nodes == NODES
    assert scene.store.end("m2", scene.at(0)) is None


def test_the_service_tells(house: Any, at: At) -> None:
    house.store.declare(Maintenance("m1", (), LLAMA, at(0), at(HOUR), "because", at(0)))
    said = house.bus.subscribe((Topic.EVENTS,), Start.LATEST)
    house.service().turn()
    assert len(said.poll(0)) == 1


def test_what_begins_last_stands_first(scene: Scene) -> None:
    for number, begins in enumerate((60, 180, 120)):
        later = scene.at(begins)
        scene.store.declare(
            Maintenance(f"m{number}", (), LLAMA, later, later + timedelta(1), "x", scene.at(0))
        )
    with scene.store.reading() as view:
        assert [one.id for one in view.maintenance.all()] == ["m1", "m2", "m0"]
