"""Why nobody is accused although evidence would decide: which excuse, and for how long it holds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diagnosis.crowd import START, Crowd, Fault, name, slow
from diagnosis.test_departures import ONSET, SMALL, SOON
from paramedic.diagnosis.departures import DepartureWatch
from paramedic.diagnosis.excuses import Excuse, Excuses, Hold
from paramedic.ingest.contract import Entity, NodeName

NODE = NodeName("n1")


def excuse_of(crowd: Crowd, node: int) -> Hold | None:
    """At the end of what befalls the crowd."""
    watch = DepartureWatch(SOON)
    for windows in crowd.windows():
        watch.weigh(windows)
    return watch.excuses.of(name(node), START + crowd.seconds)


def test_an_excuse_holds_for_a_minute_and_the_newest_counts() -> None:
    excuses = Excuses()
    assert excuses.of(NODE, 5) is None
    excuses.give(NODE, Excuse.WAITS, 100)
    excuses.give(NODE, Excuse.BUSY, 110, 4.0, 9.0)
    assert excuses.of(NODE, 170) == Hold(Excuse.BUSY, 4.0, 9.0, "s")
    assert excuses.of(NODE, 171) is None
    assert excuses.of(NodeName("n2"), 120) is None


@pytest.mark.parametrize(
    ("faults", "excuse", "needed"),
    [
        ((Fault(3, 4.0, metric="cpu_utilization_ratio", entity=Entity.NODE), *slow(3, 0.7, 1)),
         Excuse.BUSY, 9.0),
        (slow(3, 0.5, first=ONSET + 18), Excuse.SOON, SOON.node_harmless_seconds),
    ],
    ids=["a chore on its host", "all GPUs of a node for seconds"],
)  # fmt: skip
def test_who_is_spared_is_told_why_and_how_far_that_holds(
    faults: tuple[Fault, ...], excuse: Excuse, needed: float
) -> None:
    crowd = replace(SMALL, faults=faults)
    node = faults[0].node
    hold = excuse_of(crowd, node)
    assert hold is not None
    assert (hold.why, hold.needed) == (excuse, needed)
    assert hold.now is not None
    assert 0 <= hold.now < needed


def test_who_is_not_suspected_needs_no_excuse() -> None:
    assert excuse_of(replace(SMALL, faults=slow(3, 0.5, 1)), 1) is None
