"""Settings that cannot be are refused when they are made, by name and value."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paramedic.models.training.fit_settings import FitSettings

COUNTS = (
    "windows",
    "windows_to_calibrate",
    "counted_every_slots",
    "most_epochs",
    "patience_epochs",
    "batch",
)
SHARES = ("held_out_share", "trimmed_share")


def with_one(name: str, value: float) -> FitSettings:
    change: dict[str, Any] = {name: value}
    return replace(FitSettings(), **change)


def refused(name: str, value: float) -> str:
    with pytest.raises(ValueError, match=name) as told:
        with_one(name, value)
    return str(told.value)


@pytest.mark.parametrize("name", COUNTS)
@settings(max_examples=5)
@given(value=st.integers(-1000, 0))
def test_a_count_below_one_is_refused(name: str, value: int) -> None:
    assert refused(name, value) == f"{name} must be 1 or more, not {value}"


@pytest.mark.parametrize("name", COUNTS)
def test_a_count_of_one_is_enough(name: str) -> None:
    assert getattr(with_one(name, 1), name) == 1


@pytest.mark.parametrize("name", SHARES)
@pytest.mark.parametrize("value", [-0.01, 1.0, 7.5, math.nan, math.inf])
def test_a_share_is_of_zero_to_below_one(name: str, value: float) -> None:
    assert refused(name, value).endswith(f"not {value}")


@pytest.mark.parametrize("name", SHARES)
def test_nothing_may_be_held_out_or_trimmed(name: str) -> None:
    assert getattr(with_one(name, 0.0), name) == 0.0


@pytest.mark.parametrize("value", [0.0, -1e-3, math.nan, math.inf])
def test_a_network_learns_at_a_rate_that_is_a_number_above_zero(value: float) -> None:
    assert refused("learning_rate", value).endswith(f"not {value}")


def test_dice_take_no_seed_below_zero() -> None:
    assert refused("seed", -1) == "seed must be 0 or more, not -1"


def test_every_number_that_can_be_set_is_held_to_something() -> None:
    numbers = {one.name for one in fields(FitSettings) if one.type in ("int", "float")}
    assert numbers == {*COUNTS, *SHARES, "learning_rate", "seed"}
