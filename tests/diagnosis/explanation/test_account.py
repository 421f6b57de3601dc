"""What evidence against a row has still to get past, told with figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import pytest

from diagnosis.test_evidence import POWER, slot, terms
from diagnosis.test_rows_test import METRICS, ROWS, SOON, after, rows_test, window
from paramedic.diagnosis.evidence import Evidence, Terms
from paramedic.diagnosis.excuses import Hold
from paramedic.diagnosis.explanation.account import holds_of_row

if TYPE_CHECKING:
    from paramedic.diagnosis.rows_test import RowsTest
    from paramedic.models.departure.model import Departures

ODD = 5


def holds(test: RowsTest, second: int, row: int = ODD) -> list[Hold]:
    return list(holds_of_row(test, row, second))


def whys(found: Sequence[Hold]) -> str:
    return "\n".join(one.why for one in found)


def befallen(*odd: int, slots: int, share: float = 0.4, metrics: slice = slice(None)) -> RowsTest:
    """After a calm time these rows do so much less of some metrics for so many slots."""
    test = after(40)
    for second in range(40, 40 + slots):
        seen = window(second)
        seen.values[list(odd), metrics] *= share
        test.weigh(seen, None, len(ROWS), SOON)
    return test


def test_of_a_test_that_has_seen_nothing_nothing_is_told() -> None:
    assert holds(rows_test(), 0) == []


def test_a_row_has_to_be_seen_for_long_enough() -> None:
    test = rows_test()
    test.weigh(window(0), None, len(ROWS), SOON)
    (young,) = holds(test, 0)
    assert young == Hold("what it shows counts when it has been seen for long enough", 1, 20, "s")
    for second in range(1, 25):
        test.weigh(window(second), None, len(ROWS), SOON)
    assert holds(test, 24) == []


def test_what_departs_has_to_do_so_for_as_long_as_it_may_pass() -> None:
    found = holds(befallen(ODD, slots=3), 42)
    (patience,) = [one for one in found if "has to depart" in one.why]
    assert (patience.now, patience.unit) == (3.0, "s")
    assert patience.needed is not None
    assert patience.needed > 3


def test_a_metric_alone_needs_longer_than_with_others() -> None:
    power = METRICS.index("gpu_power_watts")
    alone, supported = (
        next(one for one in holds(test, 42) if "has to depart" in one.why)
        for test in (
            befallen(ODD, slots=3, metrics=slice(power, power + 1)),
            befallen(ODD, slots=3),
        )
    )
    assert "of which nothing else tells" in alone.why
    assert "of which nothing else tells" not in supported.why
    assert alone.needed is not None
    assert supported.needed is not None
    assert alone.needed > supported.needed


def test_who_has_enough_against_it_is_held_back_by_nothing_here() -> None:
    test = befallen(ODD, slots=12)
    assert test.evidence.strength[ODD] >= 1
    assert holds(test, 51) == []


def test_a_healthy_row_of_a_calm_job_is_held_back_by_nothing() -> None:
    assert holds(befallen(ODD, slots=3), 42, row=14) == []


@dataclass(frozen=True)
class Told:
    """A test as far as it is asked here."""

    evidence: Evidence
    slot: Departures
    terms: Terms
    slot_seconds: int = 1


def of_a_crowd(odd: int, nodes: int = 6) -> list[Hold]:
    """What is told of one of so many nodes that depart in the same way for a minute."""
    seen = slot({(POWER, at): 10.0 for at in range(odd)}, nodes)
    test = Told(Evidence(1), seen, terms())
    for second in range(60):
        test.evidence.add(seen, second, test.terms)
    return holds(cast("RowsTest", test), 59, row=1)


def test_what_many_show_is_taken_off_and_how_much_that_is() -> None:
    (crowd,) = [one for one in of_a_crowd(4) if "taken off" in one.why]
    assert crowd.why.startswith("4 of 6 nodes show such things")
    assert crowd.now is not None
    assert crowd.needed is not None
    assert 0 < crowd.now <= crowd.needed


@pytest.mark.parametrize(("odd", "nodes"), [(2, 40), (0, 6)])
def test_of_a_few_among_many_little_is_taken_off_and_nothing_told(odd: int, nodes: int) -> None:
    assert "taken off" not in whys(of_a_crowd(odd, nodes))


def test_one_step_says_no_more_than_so_much() -> None:
    """A step takes a minute, and a card that works less within one may only be late."""
    test = after(40)
    for second in range(40, 52):
        test.weigh(window(second, [ODD]), None, len(ROWS), SOON, step_seconds=60.0)
    (step,) = [one for one in holds(test, 51) if one.why.startswith("a step takes 60 s")]
    assert step.now is not None
    assert step.needed is not None
    assert step.now >= 0.9 * step.needed
    assert step.needed < test.evidence.level


def test_rows_that_look_odd_and_recover_raise_what_is_needed_and_that_is_told() -> None:
    test = after(40)
    for second in range(40, 400):
        odd = [(second // 20) % len(ROWS)] if second % 20 < 6 else []
        test.weigh(window(second, odd), None, len(ROWS), SOON)
    for second in range(400, 403):
        test.weigh(window(second, [ODD]), None, len(ROWS), SOON)
    assert test.terms is not None
    level = float(test.evidence.levels[test.evidence.pace_of(ODD)])
    assert level > 1.2 * test.terms.base_level
    (raised,) = [one for one in holds(test, 402) if one.why.startswith("rows of this job")]
    assert raised.why.endswith(f"{level:.3g} nats are needed and not {test.terms.base_level:.3g}")


@pytest.mark.parametrize("width", [1, 15])
def test_times_are_told_in_seconds(width: int) -> None:
    test, patient = rows_test(), replace(SOON, learning_seconds=60)
    test.weigh(window(0, width=width), None, len(ROWS), patient)
    (young,) = holds(test, 0)
    assert (young.now, young.needed) == (width, 60.0)
