"""A fatal end: what it presses on from the stop to the time-out, and what the victims show."""

from __future__ import annotations

from dataclasses import fields
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.synthetic.clusters import configured, never_pausing
from paramedic.ingest.contract import EventKind, NodeName
from paramedic.ingest.synthetic.causes import Causes
from paramedic.ingest.synthetic.cluster import SyntheticCluster
from paramedic.ingest.synthetic.faults.catalogue import FAULTS
from paramedic.ingest.synthetic.faults.instance import draw_stop
from paramedic.ingest.synthetic.faults.place import Cards
from paramedic.ingest.synthetic.faults.plan import FaultPlan, Stop, StopKind, Symptom
from paramedic.ingest.synthetic.faults.stopping import Stopping
from paramedic.ingest.synthetic.phases import Pause
from paramedic.ingest.synthetic.reading import Second

STOPS, ABORTS, RESTARTS = 12, 26, 30
CARD: Cards = (1, 1)
CHANGES = {
    StopKind.CRASH: {"work_slowdown", "has_process", "exit_code"},
    StopKind.HANG: {"work_slowdown", "runs_away"},
    StopKind.LINK_DOWN: {"nic_ratio", "link_downs"},
    StopKind.BLOCKED: {"work_slowdown", "is_idle"},
    StopKind.CARD_GONE: {"work_slowdown", "is_idle", "is_present"},
    StopKind.NODE_GONE: {"work_slowdown", "is_seen"},
}
FATAL = sorted(name for name, kind in FAULTS.items() if kind.stops)


def stopped(kind: StopKind, second: int, restarts: int | None = RESTARTS) -> Causes:
    causes = Causes.neutral(3, 2)
    Stopping(Stop(kind, STOPS, ABORTS, 134, restarts), CARD).press(causes, second)
    return causes


def changed(causes: Causes) -> dict[str, list[list[int]]]:
    """Places of each cause that is not neutral, by its name."""
    neutral = Causes.neutral(3, 2)
    pairs = ((one.name, getattr(causes, one.name), getattr(neutral, one.name))
             for one in fields(causes) if one.name != "halt")  # fmt: skip
    return {name: np.argwhere(now != usual).tolist()
            for name, now, usual in pairs if (now != usual).any()}  # fmt: skip


@cache
def lived(kind: StopKind) -> tuple[Second, ...]:
    plan = FaultPlan("ecc_error", NodeName("node-0002"), 1, onset=STOPS, strength=0.1,
                     symptoms=(Symptom("hot_memory", 0.05),),
                     stop=Stop(kind, STOPS, ABORTS, 134))  # fmt: skip
    config = configured(2, 2, work=never_pausing(), faults=(plan,))
    return tuple(SyntheticCluster(config).seconds(0, ABORTS + 2))


@pytest.mark.parametrize("kind", StopKind)
def test_a_stop_presses_on_its_own_causes_at_its_own_card_or_node(kind: StopKind) -> None:
    found = changed(stopped(kind, STOPS))
    assert set(found) == CHANGES[kind]
    assert all(places in ([[1, 1]], [[1]]) for places in found.values())


@pytest.mark.parametrize("kind", StopKind)
def test_nothing_is_pressed_on_before_the_stop_and_after_the_restart(kind: StopKind) -> None:
    for second in (STOPS - 1, RESTARTS, RESTARTS + 1):
        causes = stopped(kind, second)
        assert changed(causes) == {}
        assert causes.halt is None
    assert changed(stopped(kind, RESTARTS, restarts=None))


@pytest.mark.parametrize("kind", StopKind)
def test_the_job_is_halted_at_the_time_out_and_not_a_second_before(kind: StopKind) -> None:
    waiting = stopped(kind, ABORTS - 1)
    assert waiting.halt is None
    assert waiting.has_process[[0, 2]].all()
    assert not stopped(kind, ABORTS).has_process.any()
    assert stopped(kind, ABORTS).halt is Pause.RECOVERING
    assert stopped(kind, ABORTS, restarts=None).halt is Pause.OVER


@pytest.mark.parametrize("kind", StopKind)
def test_everybody_with_a_process_aborts_once_unless_nobody_hears_of_it(kind: StopKind) -> None:
    codes = stopped(kind, ABORTS).exit_code
    assert (codes[[0, 2]] == -6.0).all()
    is_gone = kind in (StopKind.CRASH, StopKind.NODE_GONE)
    assert codes[1].tolist() == ([0.0, 0.0] if is_gone else [-6.0, -6.0])
    assert not stopped(kind, ABORTS + 1).exit_code.any()


def test_a_crash_takes_its_neighbours_along_two_seconds_later() -> None:
    codes = [stopped(StopKind.CRASH, STOPS + age).exit_code[1].tolist() for age in range(4)]
    assert codes == [[0.0, 134.0], [0.0, 0.0], [-15.0, 0.0], [0.0, 0.0]]
    alive = [stopped(StopKind.CRASH, STOPS + age).has_process[1].tolist() for age in range(3)]
    assert alive == [[True, False], [True, False], [False, False]]


def test_a_link_goes_down_once_and_stays_down() -> None:
    links = [stopped(StopKind.LINK_DOWN, second) for second in range(STOPS, ABORTS)]
    assert [float(one.link_downs[1]) for one in links] == [1.0] + [0.0] * (ABORTS - STOPS - 1)
    assert {float(one.nic_ratio[1]) for one in links} == {0.0}


@pytest.mark.parametrize("kind", StopKind)
def test_victims_spin_fully_utilised_without_tensor_work_until_the_time_out(kind: StopKind) -> None:
    for second in lived(kind)[STOPS + 4 : ABORTS]:
        assert (second.gpu["gpu_utilization_ratio"][0] == 1.0).all()
        assert (second.gpu["gpu_tensor_active_ratio"][0] == 0.0).all()
        assert second.has_process[0].all()
    trained = [second.gpu["gpu_tensor_active_ratio"][0].min() for second in lived(kind)[6:STOPS]]
    assert min(trained) > 0.1


@pytest.mark.parametrize("kind", StopKind)
def test_victims_commit_no_step_and_exit_by_abort_at_the_time_out(kind: StopKind) -> None:
    seconds = lived(kind)
    assert len({float(one.rank["step"][0, 0]) for one in seconds[STOPS + 3 : ABORTS]}) == 1
    exits = [(one.offset, event.rank, event.details) for one in seconds for event in one.events
             if event.kind is EventKind.PROCESS_EXIT and event.node == "node-0001"]  # fmt: skip
    assert exits == [(ABORTS, 0, {"signal": 6}), (ABORTS, 1, {"signal": 6})]


@pytest.mark.parametrize("kind", StopKind)
def test_after_the_time_out_nobody_lives_and_no_gpu_works(kind: StopKind) -> None:
    last = lived(kind)[-1]
    assert not last.has_process.any()
    assert last.gpu["gpu_utilization_ratio"].max() == 0.0
    assert last.rank == {}


@settings(max_examples=20)
@given(name=st.sampled_from(FATAL), seed=st.integers(0, 10**6), latest=st.integers(0, 400))
def test_a_drawn_end_is_one_of_its_kind_s_and_comes_in_time(
    name: str, seed: int, latest: int
) -> None:
    kind = FAULTS[name]
    stop = draw_stop(kind, 100, latest, np.random.default_rng(seed))
    if stop is None:
        assert kind.stop_ratio < 1.0
        return
    assert stop.kind in kind.stops
    assert 100 <= stop.at <= max(100, latest)
    assert 8 <= stop.aborts_at - stop.at <= 500
    assert stop.exit_code != 0
    assert stop.restarts_at is None or 20 <= stop.restarts_at - stop.aborts_at <= 90


@pytest.mark.parametrize("name", sorted(set(FAULTS) - set(FATAL)))
def test_a_kind_without_fatal_ends_never_draws_one(name: str) -> None:
    rng = np.random.default_rng(0)
    assert all(draw_stop(FAULTS[name], 0, 300, rng) is None for _ in range(20))
