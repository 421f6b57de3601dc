"""Whether what is told of a departure is true of the numbers beside it."""

from __future__ import annotations

import pytest

from paramedic.diagnosis.contract import Evidence
from paramedic.diagnosis.departing import is_higher
from paramedic.diagnosis.finding import moment


@pytest.mark.parametrize(
    ("value", "peers", "deviation", "higher"),
    [
        (91.8, 0.1, -3.0, True),
        (311.0, 345.0, 15.9, False),
        (5.0, 5.0, -1.0, False),
        (None, 5.0, 1.0, True),
        (5.0, None, -1.0, False),
    ],
)
def test_what_is_higher_is_told_by_the_numbers_and_without_them_by_the_deviation(
    value: float | None, peers: float | None, deviation: float, *, higher: bool
) -> None:
    evidence = Evidence("gpu_power_watts", value, peers, deviation, moment(0))
    assert is_higher(evidence) is higher
