"""How the evidence against what a node shares with others is told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from diagnosis.crowd import START, TENSOR, Crowd, name
from diagnosis.test_domain_watch import JOB, ONSET, SOON, busy, switches
from paramedic.diagnosis.explanation.domains import ALIKE, of_domains
from paramedic.diagnosis.explanation.standing import Standing
from paramedic.diagnosis.grouping import Domain, DomainKind
from paramedic.diagnosis.machines import MachineWatch
from paramedic.ingest.contract import Entity, NodeName, Window

Domains = dict[Domain, frozenset[NodeName]]


def watched(
    faults: Iterable[int], seconds: int, domains: Domains | None = None, crowd: Crowd = JOB
) -> tuple[MachineWatch, dict[Entity, Window]]:
    """These nodes count many more pauses from the onset on."""
    watch = MachineWatch(SOON)
    crowd = replace(crowd, faults=busy(faults), seconds=seconds)
    for windows in crowd.windows(held=30):
        watch.departures.domains.weigh(windows, switches() if domains is None else domains)
    return watch, windows


def told(
    faults: Iterable[int], seconds: int, domains: Domains | None = None, crowd: Crowd = JOB
) -> list[Standing]:
    """Of the first node."""
    watch, windows = watched(faults, seconds, domains, crowd)
    return list(of_domains(name(0), watch, windows))


def test_a_switch_stands_by_what_most_of_its_nodes_show() -> None:
    (one,) = told(range(3), ONSET + 12)
    assert (one.kind, one.note, one.unit) == ("switch 00", "3 nodes share it", "nats")
    assert 0 < one.share < 1
    assert one.since is not None
    assert ONSET <= one.since.timestamp() - START <= ONSET + 2


def test_what_befalls_its_nodes_may_pass_for_so_long() -> None:
    watch, windows = watched(range(3), ONSET + 12)
    watch._weighed = windows[Entity.NODE].last_second
    (one,) = of_domains(name(0), watch, windows)
    (hold,) = one.holds
    assert hold.why == "what its nodes show may pass for so long"
    assert hold.needed == SOON.group_harmless_seconds
    assert hold.now == pytest.approx(11.0, abs=2.0)


def test_another_switch_has_nothing_against_it() -> None:
    watch, windows = watched(range(3), ONSET + 12)
    (one,) = of_domains(name(4), watch, windows)
    assert (one.kind, one.share, one.since, one.holds) == ("switch 01", 0.0, None, ())


@pytest.mark.parametrize(
    ("domains", "words"),
    [
        (switches(of_each=2), "2 nodes of it are here: 3 are a group at least"),
        (
            {Domain(DomainKind.RACK, "r"): frozenset(map(name, range(9)))},
            "9 nodes of it are here: it is the only rack, and there is none to compare it with",
        ),
    ],
)
def test_why_a_domain_is_not_compared_is_told(domains: Domains, words: str) -> None:
    one = told([], ONSET, domains)[0]
    assert (one.evidence, one.level, one.note) == (None, None, words)


def test_before_anything_is_compared_that_is_said() -> None:
    crowd = replace(JOB, levels={Entity.GPU: {TENSOR: 0.4}, Entity.NODE: {"cpu_seconds": 0.2}})
    one = told([], ONSET, crowd=crowd)[0]
    assert one.note == "3 nodes of it are here: nothing that it can be the cause of is compared"


def test_of_nodes_that_share_nothing_that_is_said_and_what_they_show_alike() -> None:
    (calm,) = told([], ONSET + 30, {})
    assert (calm.kind, calm.evidence, calm.holds) == (ALIKE, None, ())
    assert calm.note.startswith("no switch, rack or stage is declared of it")
    (alike,) = told(range(4), ONSET + 30, {})
    (hold,) = alike.holds
    assert "4 of 18 nodes show as much" in hold.text


def test_nodes_of_several_domains_are_told_what_they_show_alike() -> None:
    standings = told([0, 4, 8, 12], ONSET + 30)
    assert [one.kind for one in standings] == ["switch 00", ALIKE]
    assert "4 of 18 nodes show as much" in standings[1].holds[0].text
    assert standings[1].note == ""
