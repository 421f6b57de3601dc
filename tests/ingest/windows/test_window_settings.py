"""Settings that cannot work are refused at construction."""

from __future__ import annotations

import pytest

from paramedic.ingest.windows.configuration import WindowConfig
from paramedic.ingest.windows.errors import WindowSettingError


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sampling_seconds", 1.5),
        ("sampling_seconds", 0.5),
        ("window_seconds", 3),
        ("lateness_seconds", -1),
        ("history_seconds", 0),
        ("ahead_seconds", 0),
        ("silence_seconds", -0.1),
        ("clock_settle_seconds", -1.0),
    ],
)
def test_a_setting_out_of_range_is_named_with_its_value(name: str, value: float) -> None:
    with pytest.raises(WindowSettingError, match=f"{name} is {value}"):
        WindowConfig(**{name: value})  # type: ignore[arg-type]


def test_a_clock_limit_within_the_lateness_is_refused() -> None:
    with pytest.raises(WindowSettingError, match="clock_limit_seconds"):
        WindowConfig(lateness_seconds=5, clock_limit_seconds=5.0)


def test_a_full_window_is_retained_for_each_second_of_the_history() -> None:
    assert WindowConfig(window_seconds=60, history_seconds=15).retained_slots == 75
