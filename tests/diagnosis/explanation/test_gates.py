"""What keeps a node from being compared, said in the order in which it matters."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from diagnosis.synthetic import JOB, START, event, exit_of, job_state, node_name
from paramedic.diagnosis.departures import DepartureWatch
from paramedic.diagnosis.excuses import Excuse
from paramedic.diagnosis.explanation.gates import why_not_compared
from paramedic.diagnosis.explanation.machines import of_machine
from paramedic.diagnosis.explanation.standing import Standing
from paramedic.diagnosis.machines import MachineWatch
from paramedic.diagnosis.picture import JobPicture
from paramedic.diagnosis.settings import DepartureSettings, StragglerSettings
from paramedic.ingest.contract import Entity, EntityKey, Event, EventKind, NodeName, Window

NODE = node_name(0)
STARTED = (job_state("training", 0),)


def picture(*events: Event, until: int = 100) -> JobPicture:
    found = JobPicture()
    for second in range(until):
        found.see(START + second, 0)
    for one in (*STARTED, *events):
        found.record(one)
    return found


def maintenance(node: NodeName | None, begins: float) -> Event:
    return event(EventKind.MAINTENANCE, begins, node, id="m1", change="declared")


@pytest.mark.parametrize(
    ("events", "second", "words"),
    [
        ([], 60, ""),
        ([], 5, "this stretch of training is 5 s old and is given 8 s to settle"),
        ([job_state("checkpointing", 50)], 60, "the job is checkpointing"),
        ([job_state("warming_up", 50)], 60, "the job is warming up"),
        (
            [job_state("evaluating", 50), job_state("training", 59)],
            60,
            "the job has paused and is given 2 s to settle",
        ),
        ([job_state("evaluating", 40), job_state("training", 45)], 60, ""),
        ([job_state("recovering", 70), job_state("training", 80)], 60, "that is over"),
        ([job_state("finished", 50)], 60, "the job has finished"),
        ([maintenance(NODE, 50)], 60, "maintenance has been declared"),
        ([maintenance(None, 50)], 60, "maintenance has been declared"),
        ([maintenance(node_name(1), 50)], 60, ""),
        ([exit_of(1, 50)], 60, ""),
        ([exit_of(0, 50)], 60, "it has left the job"),
    ],
)
def test_every_gate_has_its_words(events: list[Event], second: int, words: str) -> None:
    said = why_not_compared(NODE, picture(*events), START + second, StragglerSettings())
    assert words in said
    assert bool(said) == bool(words)


def test_nothing_is_compared_before_a_slot_is_closed() -> None:
    assert "no second" in why_not_compared(NODE, picture(), None, StragglerSettings())


class Telling(MachineWatch):
    """A watch that tells its standing itself."""

    def standing(self, node: NodeName, *, is_named: bool = False) -> tuple[Standing, ...]:
        from paramedic.diagnosis.contract import Tier

        assert not is_named
        key = EntityKey(Entity.GPU, node, 3)
        return (Standing(key, Tier.PATTERN, "departure", 5.0, 20.0, note="its power is low"),)

    def has_stood(self, gpus: Window) -> bool:
        return gpus.last_second == START + 70


def test_a_watch_is_asked_and_what_hinders_it_is_added() -> None:
    watch = Telling(DepartureSettings())
    (free,) = of_machine(NODE, watch, picture(), START + 60)
    assert (free.share, free.note) == (0.25, "its power is low")
    (held,) = of_machine(NODE, watch, picture(job_state("checkpointing", 50)), START + 60)
    assert held.note == "its power is low; not compared now: the job is checkpointing"


def test_of_a_job_that_stands_nothing_is_compared_and_that_is_said() -> None:
    watch, cards = Telling(DepartureSettings()), np.zeros((1, 1, 1), np.float32)
    key = (EntityKey(Entity.GPU, NODE, 3),)
    for second, words in ((70, "its power is low; not compared now: the job stands still"),
                          (60, "its power is low")):  # fmt: skip
        window = Window(JOB, 0, Entity.GPU, START + second, key, ("m",), cards, cards == 0)
        (one,) = of_machine(NODE, watch, picture(), START + second, window)
        assert one.note == words


class Convinced(DepartureWatch):
    """Its evidence would decide."""

    def rows_of(self, node: NodeName) -> Iterator[tuple[EntityKey, float, float, int]]:
        yield EntityKey(Entity.NODE, node), 30.0, 20.0, START


def test_who_is_named_already_has_no_excuse() -> None:
    watch = MachineWatch(DepartureSettings())
    watch.departures = Convinced(watch.settings)
    watch.departures.excuses.give(NODE, Excuse.CLOCK, 0)
    for is_named, words in ((False, Excuse.CLOCK), (True, "")):
        assert [one.note for one in watch.standing(NODE, is_named=is_named)] == [words]


def test_a_watch_that_has_seen_nothing_says_so() -> None:
    watch = MachineWatch(DepartureSettings())
    (nothing,) = of_machine(NODE, watch, picture(), START + 60)
    assert (nothing.evidence, nothing.note) == (None, "nothing of it has been compared yet")
    (early,) = of_machine(NODE, watch, picture(), START + 5)
    assert f"{watch.settings.settle_seconds} s to settle" in early.note
