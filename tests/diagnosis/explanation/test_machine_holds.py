"""What keeps the evidence against a machine from deciding, as a detector tells it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from diagnosis.crowd import JOB, POWER, START, Crowd, Fault, name, slow
from diagnosis.playing import merged, tell
from diagnosis.test_machines import QUICK, SMALL, event, training
from paramedic.diagnosis.detector import JobDetector
from paramedic.diagnosis.excuses import Excuse
from paramedic.diagnosis.explanation.standing import Standing
from paramedic.diagnosis.machines import MachineWatch
from paramedic.ingest.contract import Entity, Event, EventKind, NodeName, Table, TelemetryBatch

ODD = name(3)
FAN = "cpu_temperature_celsius"
ONSET = 45


def of(*faults: Fault, seconds: int = 60, events: tuple[Event, ...] = ()) -> JobDetector:
    crowd = replace(SMALL, faults=faults, seconds=seconds)
    detector = QUICK.build(JOB)
    tell(detector, merged(crowd.batches(), [training(), *events]))
    return detector


def departures(detector: JobDetector, node: NodeName = ODD) -> list[Standing]:
    return [one for one in detector.standing(node) if one.kind == "departure"]


def whys(standings: Sequence[Standing]) -> set[str]:
    return {hold.why for one in standings for hold in one.holds}


def test_a_card_that_has_begun_to_depart_is_given_as_long_as_it_may_pass() -> None:
    found = departures(of(*slow(3, 0.5, gpu=1), seconds=ONSET + 5))
    (card,) = [one for one in found if one.share > 0.1]
    assert (card.subject.entity, card.subject.index, card.unit) == (Entity.GPU, 1, "nats")
    assert any("has to depart for so long" in hold.why for hold in card.holds)


def test_healthy_machines_are_held_back_by_nothing() -> None:
    assert whys(departures(of(*slow(3, 0.5, gpu=1)), name(0))) == set()


def test_of_a_job_that_pauses_that_is_told_of_every_row() -> None:
    pause = event(EventKind.JOB_STATE, ONSET, state="checkpointing")
    found = departures(of(events=(pause,)))
    assert [[hold.why for hold in one.holds] for one in found] == 3 * [["the job is checkpointing"]]


def test_of_a_job_that_stands_nothing_is_compared_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    detector = of()
    monkeypatch.setattr(MachineWatch, "has_stood", lambda *_: True)
    assert whys(departures(detector)) == {
        "the job stands still, and how machines idle says nothing of them"
    }


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "no second is closed yet"), (4, "is given some time to settle")]
)
def test_where_nothing_was_compared_yet_it_is_told_why(seconds: int, words: str) -> None:
    (nothing,) = departures(of(seconds=seconds))
    assert nothing.evidence is None
    assert any(one.endswith(words) for one in whys([nothing]))


def test_without_a_gpu_that_tells_anything_no_machine_is_compared() -> None:
    crowd = replace(SMALL, levels={Entity.NODE: {FAN: 50.0}})
    detector = QUICK.build(JOB)
    tell(detector, merged(crowd.batches(), [training()]))
    assert whys(departures(detector)) == {
        "no GPU of the job tells anything, and without them machines are not compared"
    }


def test_of_whom_no_value_comes_nothing_can_be_said() -> None:
    names = tuple(name(at) for at in range(SMALL.nodes))
    nothing = Table(Entity.GPU, names, (0,) * len(names), {POWER: [math.nan] * len(names)})
    batches = [TelemetryBatch(JOB, 0, START + second, (nothing,)) for second in range(60)]
    detector = QUICK.build(JOB)
    tell(detector, merged(batches, [training()]))
    (found,) = departures(detector)
    assert (found.evidence, found.note) == (None, "it has told no value in the last 60 s")


def test_who_has_lost_all_its_peers_is_compared_with_nobody() -> None:
    lost = event(EventKind.XID, ONSET, name(1), 1, xid=79)
    detector, crowd = QUICK.build(JOB), Crowd(nodes=2, gpus=2)
    tell(detector, merged(crowd.batches(), [training(), lost]))
    assert any(one.startswith("all its peers have") for one in whys(departures(detector, name(0))))


@pytest.mark.long
def test_who_is_spared_is_told_why_until_a_verdict_names_it() -> None:
    """All GPUs of a node depart: that is given some seconds to pass."""
    spared, named = (of(*slow(3, 0.3), seconds=until) for until in (ONSET + 8, ONSET + 25))
    assert Excuse.SOON in whys(departures(spared))
    assert ODD in named.snapshot().state.docket.accused
    assert Excuse.SOON not in whys(departures(named))


@pytest.mark.long
@pytest.mark.parametrize(("later", "together"), [(20, True), (35, False)])
def test_what_its_host_adds_is_told_and_why_it_adds_nothing(later: int, *, together: bool) -> None:
    busy = Fault(3, 2.0, metric="cpu_utilization_ratio", entity=Entity.NODE, first=ONSET)
    begins = ONSET + later
    found = departures(of(busy, *slow(3, 0.7, gpu=1, first=begins), seconds=begins + 6))
    (card,) = [one for one in found if one.subject.index == 1]
    assert 0 < card.share < 1
    assert ("with what speaks against its host" in card.note) is together
    assert any("too far apart" in one for one in whys([card])) is not together
    assert card.since is not None
    assert card.since.timestamp() >= START + ONSET
