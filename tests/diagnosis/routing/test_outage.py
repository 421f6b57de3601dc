"""A bus that is away, or a member that is held up, makes no node of a shard look silent."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from diagnosis.routing.crew import Crew, accepted, sharded
from diagnosis.synthetic import JOB, START, Scene
from paramedic.diagnosis.routing.ledger import SlotKey
from paramedic.diagnosis.routing.outlet import Outlet
from paramedic.diagnosis.routing.session import TOPICS, Session
from paramedic.diagnosis.routing.sole import SoleMembership
from paramedic.ingest.contract import Message, Start, Subscription, TelemetryBatch

SECONDS = 40
OUTAGE = 20
"""The second that is told half before the bus goes away, and half when it is back."""
SHARDS = (0, 1)


def stream() -> list[TelemetryBatch]:
    """Two batches of each shard a second, with different rows."""
    return [part for batch in Scene(seconds=SECONDS).batches() for part in sharded(batch)]


def every_slot() -> list[SlotKey]:
    return [SlotKey(JOB, shard, START + n, 0) for n in range(SECONDS) for shard in SHARDS]


def play(crew: Crew, batches: list[TelemetryBatch]) -> None:
    for second in sorted({batch.second for batch in batches}):
        crew.publish([batch for batch in batches if batch.second == second])
        crew.turns()


def halves() -> tuple[list[TelemetryBatch], list[TelemetryBatch]]:
    """What is published before the outage, and after it."""
    batches = stream()
    of_the_second = [one for one in batches if one.second == START + OUTAGE and one.shard == 0]
    cut = batches.index(of_the_second[1])
    return batches[:cut], batches[cut:]


@pytest.mark.parametrize("outage_seconds", [5, 60, 900])
def test_seconds_that_were_cut_in_two_by_an_outage_are_whole(outage_seconds: int) -> None:
    before, after = halves()
    crew = Crew()
    member = crew.hire()
    play(crew, before)
    for _ in range(outage_seconds):
        crew.now += 1.0
        member.turn(crew.now, bus_answers=False)
    play(crew, after)
    crew.turns(12)
    keys, _ = accepted(crew.slots())
    assert keys == every_slot()
    assert member.counts["rows_left_out"] == 0


@pytest.mark.parametrize("unnoticed_seconds", [0, 5])
@pytest.mark.parametrize("late_seconds", [1, 8])
def test_publishers_may_find_the_bus_later_than_its_readers(
    unnoticed_seconds: int, late_seconds: int
) -> None:
    """An outage is found out some seconds late, and the first to be back is not the only one."""
    before, after = halves()
    crew = Crew()
    member = crew.hire()
    play(crew, before)
    crew.turns(unnoticed_seconds)
    crew.now += 1.0
    member.turn(crew.now, bus_answers=False)
    crew.turns(late_seconds)
    play(crew, after)
    crew.turns(12)
    keys, _ = accepted(crew.slots())
    assert keys == every_slot()
    assert member.counts["rows_left_out"] == 0


def test_time_that_a_member_spends_in_a_commit_is_no_silence() -> None:
    before, after = halves()
    crew = Crew()
    member = crew.hire()
    play(crew, before)
    crew.now += 60.0
    for shard in (1, 0):
        crew.publish([batch for batch in after if batch.shard == shard])
        crew.turns()
    crew.turns(12)
    keys, _ = accepted(crew.slots())
    assert sorted(keys, key=lambda key: (key.second, key.shard)) == every_slot()
    assert member.counts["rows_left_out"] == 0


class Cable:
    """A subscription over a cable that can be cut; then polls come back empty."""

    def __init__(self, subscription: Subscription) -> None:
        self._subscription = subscription
        self.bus_answers = True

    def poll(self, timeout_seconds: float) -> Sequence[Message]:
        return self._subscription.poll(timeout_seconds) if self.bus_answers else ()

    def close(self) -> None:
        self._subscription.close()


class Alone:
    """The only reader of a crew's bus, behind a cable."""

    def __init__(self, crew: Crew) -> None:
        self.crew = crew
        self.cable = Cable(crew.bus.subscribe(TOPICS, Start.EARLIEST))
        self._membership = SoleMembership(
            self.cable, lambda: crew.now, lambda: False, poll_seconds=0.0, catch_up_seconds=30.0
        )
        outlet = Outlet(crew.bus.publisher())
        self.session = Session(crew.config, self._membership, outlet, dict, shares_work=False)

    def play(self, batches: list[TelemetryBatch]) -> None:
        for second in sorted({batch.second for batch in batches}):
            self.crew.publish([batch for batch in batches if batch.second == second])
            self.turns(1)

    def turns(self, count: int) -> None:
        for _ in range(count):
            self.crew.now += 1.0
            self.session.turn(self._membership.poll(0.0), self.crew.now)


def test_a_process_alone_closes_no_second_while_its_bus_is_away() -> None:
    before, after = halves()
    crew = Crew()
    alone = Alone(crew)
    alone.play(before)
    alone.cable.bus_answers = False
    alone.turns(60)
    alone.cable.bus_answers = True
    alone.play(after)
    alone.turns(12)
    keys, _ = accepted(crew.slots())
    assert keys == every_slot()
    assert alone.session.report().counts["rows_left_out"] == 0
