"""What keeps a node from being compared, and what keeps all from being said of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diagnosis.synthetic import START, event, exit_of, job_state, node_name
from paramedic.diagnosis.explanation.gates import why_not_compared, why_nothing_is_said
from paramedic.diagnosis.finding import moment
from paramedic.diagnosis.picture import JobPicture
from paramedic.diagnosis.settings import StragglerSettings
from paramedic.ingest.contract import Event, EventKind, NodeName, format_time

NODE = node_name(0)
STARTED = (job_state("training", 0),)


def picture(*events: Event, until: int = 100) -> JobPicture:
    found = JobPicture()
    for second in range(until):
        found.see(START + second, 0)
    for one in (*STARTED, *events):
        found.record(one)
    return found


def maintenance(node: NodeName | None, begins: float, **details: str) -> Event:
    said = {"id": "m1", "change": "declared", **details}
    return replace(event(EventKind.MAINTENANCE, begins, node), details=said)


def at(second: int) -> str:
    return format_time(moment(START + second))


@pytest.mark.parametrize(
    ("events", "second", "words"),
    [
        ([], 60, ""),
        ([], 5, "this stretch of training is young and is given some time to settle (5 of 8 s)"),
        ([job_state("checkpointing", 50)], 60, "the job is checkpointing"),
        ([job_state("warming_up", 50)], 60, "the job is warming up"),
        (
            [job_state("evaluating", 50), job_state("training", 59)],
            60,
            "the job was evaluating until lately and is given some time to settle (1 of 2 s)",
        ),
        ([job_state("evaluating", 40), job_state("training", 45)], 60, ""),
        (
            [job_state("recovering", 70), job_state("training", 80)],
            60,
            "the newest slot is of a stretch of training that is over",
        ),
        (
            [job_state("starting", 2), job_state("training", 55)],
            60,
            "the job was starting until lately and is given some time to settle (5 of 8 s)",
        ),
        (
            [job_state("checkpointing", 50), job_state("training", 80)],
            60,
            "the job is checkpointing",
        ),
        ([maintenance(NODE, 50)], 60, ""),
        ([maintenance(None, 50)], 60, "maintenance is declared for the whole job"),
        ([exit_of(0, 50)], 60, ""),
    ],
)
def test_what_keeps_everybody_from_being_compared_has_its_words(
    events: list[Event], second: int, words: str
) -> None:
    hold = why_not_compared(picture(*events), START + second, StragglerSettings())
    assert ("" if hold is None else hold.text) == words


def test_of_a_job_of_which_nothing_is_known_that_is_said() -> None:
    hold = why_not_compared(JobPicture(), START + 60, StragglerSettings())
    assert hold is not None
    assert hold.text == "it is not known that the job trains"


def test_nothing_is_compared_before_a_slot_is_closed() -> None:
    hold = why_not_compared(picture(), None, StragglerSettings())
    assert hold is not None
    assert hold.text == "no second is closed yet"


DECLARED = "maintenance is declared for"
ENDED = "maintenance of it has ended"
SETTLES = "and 60 s to settle after that"
UNTIL_SAID = "until somebody says that it is over"


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([], ""),
        ([exit_of(1, 50)], ""),
        ([exit_of(0, 50)], "it has left the job"),
        ([job_state("finished", 50)], "the job has finished"),
        ([maintenance(node_name(1), 50)], ""),
        ([maintenance(NODE, 70)], ""),
        ([maintenance(NODE, 50)], f"{DECLARED} it {UNTIL_SAID}"),
        (
            [maintenance(None, 50, reason="new firmware")],
            f"{DECLARED} the whole job {UNTIL_SAID} (new firmware)",
        ),
        (
            [exit_of(0, 50), maintenance(NODE, 50, ends=at(100))],
            f"it has left the job\n{DECLARED} it until {at(100)}, {SETTLES} (10 of 110 s)",
        ),
        (
            [maintenance(NODE, 20, ends=at(50), reason="a new fan")],
            f"{ENDED} (a new fan), and it is given some time to settle (10 of 60 s)",
        ),
    ],
)
def test_what_keeps_all_from_being_said_of_a_node_has_its_words(
    events: list[Event], words: str
) -> None:
    holds = why_nothing_is_said(NODE, picture(*events), START + 60)
    assert "\n".join(one.text for one in holds) == words


def test_before_a_slot_is_closed_no_maintenance_is_told() -> None:
    assert list(why_nothing_is_said(NODE, picture(maintenance(None, 50)), None)) == []
