"""Whether a job works, spins, rests or is gone, by what its cards do together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest

from diagnosis.cards import START, slot
from paramedic.diagnosis.motion import Gait, Motion

Levels = Mapping[str, float]


def levels(power: float, busy: float, sent: float, memory: float = 6e10) -> Levels:
    return {
        "gpu_power_watts": power,
        "gpu_utilization_ratio": busy,
        "gpu_pcie_tx_bytes_per_second": sent,
        "gpu_memory_used_bytes": memory,
    }


COMPUTES = levels(650, 1.0, 1e9)
SENDS = levels(200, 1.0, 4e10)
SPINS = levels(195, 1.0, 0.0)
RESTS = levels(72, 0.0, 0.0)
GONE = levels(72, 0.0, 0.0, memory=1e9)
STEPS = ([COMPUTES] * 6 + [SENDS] * 2 + [SPINS]) * 12
"""Of 9 seconds."""


def moved(slots: Iterable[Levels], width: int = 1) -> Motion:
    motion = Motion()
    for at, one in enumerate(slots):
        motion.hear(slot(at * width, one, width=width))
    return motion


def stands(slots: Iterable[Levels], width: int = 1) -> int | None:
    since = moved(slots, width).standing_since(width)
    return None if since is None else since - START


def test_a_job_stands_when_it_spins_for_longer_than_in_any_step() -> None:
    assert stands([*STEPS, *[SPINS] * 4]) is None
    assert stands([*STEPS, *[SPINS] * 6]) == len(STEPS) - 2


def test_a_pause_like_one_before_is_no_standstill_and_a_much_longer_one_is() -> None:
    saved = [*STEPS, *[RESTS] * 29, *STEPS]
    assert stands([*saved, *[RESTS] * 29]) is None
    assert stands([*saved, *[RESTS] * 50]) == len(saved) - 2


def test_a_job_whose_processes_have_left_stands_at_once() -> None:
    motion = moved([*STEPS, *[GONE] * 2])
    assert (motion.gait, motion.standing_since(1)) == (Gait.GONE, START + len(STEPS) - 2)


def test_what_trickles_in_a_job_that_stands_for_an_hour_is_no_work() -> None:
    trickles = levels(195, 1.0, 3e9)
    assert stands([*STEPS, *[trickles] * 3600]) == len(STEPS) - 2


def test_a_job_that_is_merely_slower_works() -> None:
    slower = [levels(500, 1.0, 6e9)] * 40
    assert stands([*STEPS, *slower]) is None
    plain = [{"gpu_power_watts": one["gpu_power_watts"]} for one in [*STEPS, *slower]]
    assert stands(plain) is None


@pytest.mark.parametrize("width", [5, 15])
def test_slow_telemetry_needs_two_slots_at_least(width: int) -> None:
    steps = [COMPUTES] * 30
    assert stands([*steps, SPINS], width) is None
    assert stands([*steps, *[SPINS] * 2], width) == (len(steps) - 1) * width


def test_nothing_is_known_of_a_job_before_it_has_worked_for_a_minute() -> None:
    assert moved([COMPUTES] * 20 + [SPINS] * 35).gait is Gait.WORKS
    assert not moved([{"gpu_temperature_celsius": 40.0}] * 90).is_moving


@pytest.mark.parametrize(("width", "enough"), [(1, 60), (15, 4), (30, 3)])
def test_cards_that_have_worked_for_a_minute_since_have_gone_on(width: int, enough: int) -> None:
    failed = (len(STEPS) - 1) * width + START
    for more, has_worked in ((enough - 1, False), (enough, True)):
        motion = moved([COMPUTES] * (len(STEPS) + more), width)
        assert motion.has_worked_since(failed) is has_worked


def test_twitches_of_a_job_that_stands_do_not_add_up_to_work() -> None:
    twitch = [COMPUTES] * 35
    motion = moved([*STEPS, *[SPINS] * 30, *twitch, *[SPINS] * 60, *twitch])
    assert not motion.has_worked_since(START + len(STEPS))


def test_what_was_worked_before_a_job_came_to_stand_again_is_not_forgotten() -> None:
    failed = START + len(STEPS)
    again = [*STEPS, *[SPINS] * 20, *STEPS, *[SPINS] * 60]
    assert moved(again).has_worked_since(failed)
