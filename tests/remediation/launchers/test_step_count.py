"""Which steps are done, and whether a generation got further than any before."""

from __future__ import annotations

from paramedic.remediation.launchers.local.step_count import StepCount


def test_a_generation_that_repeats_old_steps_has_not_gone_further() -> None:
    steps = StepCount()
    steps.start_generation()
    for step in range(6):
        steps.committed(0, step)
    steps.start_generation()
    steps.committed(0, 0)
    assert not steps.went_further
    assert steps.steps_lost == 6


def test_a_generation_that_goes_on_with_the_interrupted_step_has_gone_further() -> None:
    steps = StepCount()
    steps.start_generation()
    steps.committed(0, 5)
    steps.start_generation()
    steps.committed(0, 6)
    assert steps.went_further
    assert steps.steps_lost == 0
