"""kill -9 of members at random moments, and members that come and go, at a real broker."""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from diagnosis.routing.storm import Process, Sink, Storm, every_slot, storm
from diagnosis.synthetic import node_name
from paramedic.diagnosis.contract import Status
from servers.kafka_broker import kafka_broker

_LOG = logging.getLogger(__name__)
PATIENCE_SECONDS = 120.0
ROWS = 4  # of a slot: two nodes and two ranks


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Storm]:
    with kafka_broker(tmp_path) as server, storm(server, tmp_path) as here:
        yield here


def nothing_is_missing(sink: Sink, publisher: Process) -> int:
    """End the publisher, wait for the rest of its slots, and look at what the sink has."""
    published = int(publisher.end().split()[-1])
    expected = every_slot(published)
    sink.read_until(lambda: sink.slots >= expected, PATIENCE_SECONDS)
    assert len(expected - sink.slots) == 0
    assert sink.slots == expected
    assert set(sink.rows.values()) == {ROWS}
    return published


def the_culprit_was_named_once_in_each_job(sink: Sink) -> None:
    assert sink.told() == [(job, node_name(2), Status.FIRING) for job in ("small", "synthetic")]


@pytest.mark.parametrize(
    "kills",
    [
        pytest.param(3, marks=pytest.mark.connected),
        pytest.param(50, marks=[pytest.mark.soak, pytest.mark.timeout(1800)]),
    ],
)
def test_members_that_are_killed_at_random_moments_lose_nothing(here: Storm, kills: int) -> None:
    chance = random.Random(kills)
    publisher = here.publisher(seconds=200 * kills + 2_000)
    members = [here.member(), here.member()]
    sink = here.sink()
    for _ in range(kills):
        sink.read(chance.uniform(0.5, 12.0))
        victim = members.pop(chance.randrange(2))
        victim.kill()
        members.append(here.member())
    sink.read(15.0)
    seconds = nothing_is_missing(sink, publisher)
    the_culprit_was_named_once_in_each_job(sink)
    verdicts = len(sink.verdicts)
    _LOG.info(
        f"{kills} kills, {seconds} s of two shards: {sink.ledger.accepted} slots accepted,"
        f" {sink.ledger.repeated} repeats rejected; {verdicts} verdicts published, 2 told"
    )


@pytest.mark.connected
def test_work_moves_to_a_member_that_joins_and_back_when_it_leaves(here: Storm) -> None:
    publisher, first, sink = here.publisher(), here.member(), here.sink()
    sink.read_until(lambda: len(sink.slots) > 200, PATIENCE_SECONDS)
    second = here.member()
    sink.read(14.0)
    assert "belong to others now" in first.log
    assert "watching the shares [" in second.log
    second.end()
    sink.read(8.0)
    nothing_is_missing(sink, publisher)
    the_culprit_was_named_once_in_each_job(sink)
    first.end()
    _LOG.info(f"{sink.ledger.accepted} slots accepted, {sink.ledger.repeated} repeats rejected")
