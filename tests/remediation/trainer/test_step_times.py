"""What a second of steps becomes."""

from __future__ import annotations

import math

import torch
from hypothesis import given
from hypothesis import strategies as st

from paramedic.remediation.trainer.collective_log import CollectiveLog
from paramedic.remediation.trainer.step_meter import StepMeter
from paramedic.remediation.trainer.step_times import SecondOfSteps, StepTimes, percentile


def times(step: int, **changes: object) -> StepTimes:
    fields: dict[str, object] = {
        "step": step,
        "step_seconds": 0.5,
        "dataloader_seconds": 0.125,
        "collective_seconds": 0.25,
        "collective_durations_seconds": (0.25,),
        "collective_bytes": 1000,
        "samples": 8,
        "world_size": 4,
        "loss": 2.0,
        "gradient_norm": None,
        "learning_rate": 0.1,
    }
    return StepTimes(**(fields | changes))  # type: ignore[arg-type]


def test_a_second_gives_means_over_its_steps() -> None:
    second = SecondOfSteps()
    second.add(times(7))
    second.add(times(8, loss=4.0, step_seconds=1.5, gradient_norm=3.0))
    values = second.drain()
    assert values == {
        "step": 8,
        "step_seconds": 1.0,
        "compute_seconds": 0.625,
        "collective_seconds": 0.25,
        "collective_p99_seconds": 0.25,
        "collective_bytes": 1000,
        "dataloader_seconds": 0.125,
        "samples_per_second": (16 + 16 / 3) / 2,
        "loss": 3.0,
        "gradient_norm": 3.0,
        "learning_rate": 0.1,
        "global_batch_size": 32,
    }


def test_a_loss_that_is_no_number_is_told_as_infinite() -> None:
    second = SecondOfSteps()
    second.add(times(7))
    second.add(times(8, loss=math.nan, gradient_norm=math.nan))
    values = second.drain()
    assert values["loss"] == values["gradient_norm"] == math.inf


def test_a_second_without_a_step_tells_the_newest_step_only() -> None:
    second = SecondOfSteps()
    assert second.drain() == {}
    second.add(times(3))
    second.drain()
    assert second.drain() == {"step": 3}


def test_a_newcomer_tells_the_step_that_it_took_over() -> None:
    second = SecondOfSteps()
    second.know_step(136)
    assert second.drain() == {"step": 136}


def test_what_a_step_could_not_tell_is_absent() -> None:
    second = SecondOfSteps()
    second.add(
        times(1, samples=None, loss=None, learning_rate=None, collective_durations_seconds=())
    )
    absent = {
        "samples_per_second",
        "global_batch_size",
        "loss",
        "gradient_norm",
        "learning_rate",
        "collective_p99_seconds",
    }
    assert not absent & set(second.drain())


def test_compute_is_never_negative() -> None:
    assert times(0, collective_seconds=9.0).compute_seconds == 0


@given(st.lists(st.floats(0, 10), min_size=1), st.floats(0.01, 1))
def test_a_percentile_is_a_value_that_enough_values_do_not_exceed(
    values: list[float], share: float
) -> None:
    found = percentile(values, share)
    assert found in values
    assert sum(value <= found for value in values) >= math.floor(len(values) * share)


class Bench:
    """A model whose every part of a step takes a known time."""

    def __init__(self) -> None:
        self.now = 100.0
        self.keep = False
        self.log = CollectiveLog(lambda: self.now)
        self.second = SecondOfSteps()
        self.meter = StepMeter(lambda: self.now, self.log, self.second)
        self.model = torch.nn.Linear(3, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.5)
        self.meter.instrument(self.model, self.optimizer)

    def step(self, number: int) -> dict[str, float]:
        self.meter.begin()
        self.now += 0.25
        loss = self.model(torch.ones(6, 3)).sum()
        self.model(torch.ones(2, 3))
        self.now += 0.5
        began = self.log.begin(64)
        self.now += 0.125
        self.log.end(began)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.now += 0.125
        self.meter.commit(number, 2, loss)
        return {} if self.keep else self.second.drain()


def test_a_step_is_split_into_loading_computing_and_waiting() -> None:
    values = Bench().step(4)
    assert values["step"] == 4
    assert values["step_seconds"] == 1.0
    assert values["dataloader_seconds"] == 0.25
    assert values["collective_seconds"] == 0.125
    assert values["compute_seconds"] == 0.625
    assert values["samples_per_second"] == 6
    assert values["global_batch_size"] == 12
    assert values["learning_rate"] == 0.5
    assert math.isclose(values["gradient_norm"], math.sqrt(3 * 36 + 36), rel_tol=1e-6)


def test_the_gradient_norm_is_taken_once_a_second() -> None:
    bench = Bench()
    # A step takes a second of the bench's clock, so hold it back by half of that.
    taken = []
    for number in range(6):
        taken.append("gradient_norm" in bench.step(number))
        bench.now -= 0.5
    assert taken == [True, False, True, False, True, False]


def test_the_means_of_a_second_are_those_of_its_own_steps() -> None:
    bench = Bench()
    bench.keep = True
    bench.step(0)
    bench.optimizer.param_groups[0]["lr"] = 0.25
    bench.step(1)
    values = bench.second.drain()
    assert values["learning_rate"] == 0.375
    assert (values["step"], values["step_seconds"], values["collective_bytes"]) == (1, 1.0, 64)
    assert set(bench.second.drain()) == {"step"}


def test_a_step_that_failed_and_was_tried_again_counts_once() -> None:
    bench = Bench()
    bench.meter.begin()
    bench.now += 30
    bench.log.begin(10**6)
    values = bench.step(0)
    assert (values["step_seconds"], values["collective_bytes"]) == (1.0, 64)


def test_collectives_before_the_attempt_do_not_count() -> None:
    bench = Bench()
    bench.log.end(bench.log.begin(10**6))
    assert bench.step(0)["collective_bytes"] == 64
