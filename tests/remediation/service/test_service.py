"""The whole service over a bus in memory: nothing lost, nothing done twice."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paramedic.diagnosis.contract import Fault, Status, Verdict
from paramedic.ingest.bus.memory import MemoryBus
from paramedic.ingest.contract import (
    DeadLetter,
    Event,
    EventKind,
    JobName,
    Message,
    NodeName,
    Start,
    Subscription,
    Topic,
)
from paramedic.remediation.configuration import RemediateConfig
from paramedic.remediation.contract import ActionState, IncidentState, VerdictFilter
from paramedic.remediation.launchers.in_memory import InMemoryLauncher
from paramedic.remediation.service import run
from paramedic.remediation.store.store import Store, open_store

Build = Callable[..., Verdict]
BuildEvent = Callable[..., Event]
LLAMA = JobName("llama")


def states_of(store: Store) -> tuple[list[IncidentState], list[ActionState]]:
    with store.reading() as view:
        incidents = [view.incidents.get(f"inc-V{number}") for number in (1, 2)]
        actions = view.actions.of_job(LLAMA)
    return [each.state for each in incidents if each], [action.state for action in actions]


def test_a_hang_is_replaced_within_two_turns(house: Any, verdict_of: Build) -> None:
    house.say(verdict_of())
    service = house.service()
    assert service.turn()
    assert len(house.launcher.applied) == 1
    assert service.turn()
    assert states_of(house.store) == ([IncidentState.ACTING], [ActionState.SUCCEEDED])


def test_an_exit_is_recorded_and_closed_without_a_call(house: Any, verdict_of: Build) -> None:
    house.say(verdict_of(fault=Fault.PROCESS_EXIT))
    service = house.service()
    service.turn()
    house.say(verdict_of(fault=Fault.PROCESS_EXIT, status=Status.RESOLVED))
    service.turn()
    assert house.launcher.applied == []
    assert states_of(house.store) == ([IncidentState.RECOVERED], [ActionState.SKIPPED])


def test_reading_everything_again_after_a_restart_is_harmless(
    house: Any, verdict_of: Build, event_of: BuildEvent
) -> None:
    house.say(event_of(0, EventKind.JOB_STATE, state="training"), verdict_of())
    service = house.service()
    for _ in range(3):
        service.turn()
    house.say(verdict_of(status=Status.RESOLVED))
    service.turn()
    before = states_of(house.store)
    again = house.service()
    for _ in range(3):
        again.turn()
    assert states_of(house.store) == before == ([IncidentState.RECOVERED], [ActionState.SUCCEEDED])
    assert len(house.launcher.applied) == 1


def test_an_old_story_is_read_to_its_end_before_anything_is_done(
    house: Any, verdict_of: Build
) -> None:
    house.say(verdict_of(), verdict_of(status=Status.RESOLVED))
    house.service().turn()
    assert house.launcher.applied == []


class Drip:
    """A subscription that brings one message at a poll."""

    def __init__(self, inner: Subscription) -> None:
        self._inner = inner
        self._kept: list[Message] = []

    def poll(self, timeout_seconds: float) -> list[Message]:
        self._kept += self._inner.poll(timeout_seconds)
        taken, self._kept = self._kept[:1], self._kept[1:]
        return taken

    def close(self) -> None:
        self._inner.close()


def test_an_old_story_in_many_pieces_is_read_to_its_end_too(house: Any, verdict_of: Build) -> None:
    house.say(verdict_of(), verdict_of(status=Status.RESOLVED))
    service = house.service()
    service.subscription = Drip(service.subscription)
    service.turn()
    assert house.launcher.applied == []


@pytest.mark.long
def test_a_database_that_is_locked_for_a_while_loses_nothing(
    house: Any, verdict_of: Build, store_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    service = house.service()
    house.say(verdict_of("V1"), verdict_of("V2", node=NodeName("node-0002")))
    holder = sqlite3.connect(store_url.removeprefix("sqlite:///"), isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    assert not service.turn()
    assert not service.turn()
    holder.close()
    assert service.turn()
    with house.store.reading() as view:
        assert len(view.verdicts.documents(VerdictFilter())) == 2
    warnings = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert len(warnings) == 1, "said once, not at every turn"
    assert "reading waits" in warnings[0].getMessage()
    assert any("reading goes on" in record.getMessage() for record in caplog.records)


def test_a_bus_that_is_away_does_not_keep_us_from_acting(house: Any, verdict_of: Build) -> None:
    house.launcher.is_reachable = False
    house.say(verdict_of())
    service = house.service()
    service.turn()
    house.bus.fail("broker gone")
    house.launcher.is_reachable = True
    house.clock.go_on(10)
    assert not service.turn()
    assert len(house.launcher.applied) == 1
    house.bus.heal()
    assert service.turn()


def test_what_was_read_is_stored_and_acted_on_even_if_the_bus_is_gone_by_then(
    house: Any, verdict_of: Build
) -> None:
    service = house.service()
    house.say(verdict_of())
    with house.store.writing():
        assert not service.turn()
    house.bus.fail("broker gone")
    assert not service.turn()
    assert len(house.launcher.applied) == 1


def test_what_cannot_be_read_goes_to_the_dead_letters_and_the_rest_goes_on(
    house: Any, verdict_of: Build
) -> None:
    dead = house.bus.subscribe([Topic.DEAD_LETTER], Start.EARLIEST)
    house.bus.publisher().publish(Topic.VERDICTS, "llama/0", b'{"id": \xff}')
    house.say(verdict_of())
    house.service().turn()
    (letter,) = dead.poll(0.0)
    said = DeadLetter.from_json(letter.payload)
    assert said.topic is Topic.VERDICTS
    assert "not a verdict" in said.reason
    assert len(house.launcher.applied) == 1


def test_the_ledger_follows_the_clock(house: Any, event_of: BuildEvent) -> None:
    house.say(event_of(0, EventKind.JOB_STATE, state="training"))
    service = house.service()
    for _ in range(3):
        service.turn()
        house.clock.go_on(1)
    with house.store.reading() as view:
        (row,) = view.ledger.of_job(LLAMA)
        job = view.jobs.get(LLAMA)
    assert (row.ended_at - row.started_at).total_seconds() == 32
    assert job is not None
    assert job.goodput == 1.0


def test_each_decision_is_one_line_of_log(
    house: Any, verdict_of: Build, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="paramedic.remediation")
    house.say(verdict_of())
    house.service().turn()
    lines = [record.getMessage() for record in caplog.records]
    assert lines[0] == "V1 firing: node-0001 is silent"
    assert lines[1] == "inc-V1: replace_rank on node-0001 planned: node-0001 is silent"
    assert lines[2].startswith("inc-V1: replace_rank on node-0001 applied")


def test_run_ends_when_it_is_told_to(house: Any, verdict_of: Build) -> None:
    house.say(verdict_of())
    stop = threading.Event()
    config = RemediateConfig(poll_seconds=0.005)
    arguments = (config, house.bus, house.launcher, house.store, house.clock, stop)
    thread = threading.Thread(target=run, args=arguments)
    thread.start()
    while thread.is_alive() and states_of(house.store)[1] != [ActionState.SUCCEEDED]:
        thread.join(0.01)
    stop.set()
    thread.join(10)
    assert not thread.is_alive()


@pytest.mark.long
@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(
        st.sampled_from(["V1 firing", "V2 firing", "V1 resolved", "crash", "unreachable", "back"]),
        max_size=14,
    )
)
def test_no_order_of_crashes_and_failures_acts_twice_or_forgets(
    tmp_path_factory: pytest.TempPathFactory,
    database_in: Callable[[Path], str],
    verdict_of: Build,
    clock: Any,
    story: list[str],
) -> None:
    from paramedic.remediation.service import Service

    store = open_store(database_in(tmp_path_factory.mktemp("story")))
    bus, launcher = MemoryBus(), InMemoryLauncher(LLAMA, ranks=4, spares=4)

    def begin() -> Service:
        subscription = bus.subscribe((Topic.VERDICTS, Topic.EVENTS), Start.EARLIEST)
        config = RemediateConfig(poll_seconds=0.001)
        return Service(config, subscription, bus.publisher(), launcher, store, clock)

    service = begin()
    nodes = {"V1": NodeName("node-0001"), "V2": NodeName("node-0002")}
    for word in story:
        if word == "crash":
            service = begin()
        elif word in ("unreachable", "back"):
            launcher.is_reachable = word == "back"
        else:
            identity, status = word.split()
            verdict = verdict_of(identity, node=nodes[identity], status=Status(status))
            bus.publisher().publish(Topic.VERDICTS, "llama/0", verdict.to_json())
        service.turn()
    launcher.is_reachable = True
    for _ in range(8):
        clock.go_on(60)
        service.turn()
    keys = [request.idempotency_key for request in launcher.applied]
    assert len(keys) == len(set(keys))
    if "V2 firing" in story:
        assert "V2:replace_rank" in keys
    with store.reading() as view:
        assert view.actions.unfinished() == ()
    store.close()
