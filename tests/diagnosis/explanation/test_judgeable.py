"""Why nothing could be judged: each reason by itself, and no reason where there is none."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import pytest

from paramedic.diagnosis.explanation.judgeable import Judgeable
from paramedic.ingest.contract import (
    Entity,
    Event,
    EventKind,
    JobName,
    NodeName,
    Table,
    TelemetryBatch,
)

STEP = "step_seconds"
SETTLE = {Entity.RANK: 8, Entity.GPU: 10}


def state(name: str, second: int) -> Event:
    at = datetime.fromtimestamp(second, UTC)
    return Event(at, EventKind.JOB_STATE, JobName("j"), details={"state": name})


def seen(
    seconds: Iterable[int],
    nodes: str = "ab",
    metric: str = STEP,
    value: float = 1.0,
    entity: Entity = Entity.RANK,
    events: Sequence[Event] = (),
) -> Judgeable:
    found = Judgeable({STEP}, SETTLE)
    for event in events:
        found.hear(event)
    names = tuple(map(NodeName, nodes))
    for second in seconds:
        indices = None if entity is Entity.NODE else tuple(range(len(names)))
        table = Table(entity, names, indices, {metric: [value] * len(names)})
        found.see(TelemetryBatch(JobName("j"), 0, second, (table,)))
    return found


@pytest.mark.parametrize(
    ("found", "late", "why"),
    [
        (seen(range(0)), 0, "it holds no telemetry"),
        (seen(range(30), value=math.nan), 0, "all values are null in 60 rows"),
        (seen(range(30), metric="x_y"), 0, "no rank anything that is known: there is only x_y"),
        (seen(range(30), entity=Entity.NODE), 0, "no GPU tells anything, and no rank"),
        (seen(range(30, 0, -1)), 58, "58 of 60 rows arrived when their second was long over"),
        (seen(range(8)), 0, "it has 8 seconds of training, and a job is given 8 s to settle"),
        (seen(range(9), entity=Entity.GPU), 0, "it has 9 seconds of training, and a job is given"),
        (seen(range(30), events=[state("starting", 5), state("training", 25)]), 0, "it has 5 sec"),
        (
            seen(range(30), events=[state("training", 90), state("finished", 99)]),
            0,
            "from 1970-01-01T00:00:00Z to 1970-01-01T00:00:29Z, and its events, from 1970-01-01",
        ),
        (seen(range(30), "a"), 0, "only a tells anything, so that it has no peers"),
    ],
)
def test_each_reason_is_told(found: Judgeable, late: int, why: str) -> None:
    assert why in found.why_nothing(late)


def test_there_is_no_reason_where_two_tell_for_long_enough() -> None:
    found = seen(range(9))
    assert found.why_nothing(3) == ""
    assert found.rows == 18
    assert seen(range(11), metric="x_y", entity=Entity.GPU).why_nothing(0) == ""
    assert seen(range(0, 90, 30)).why_nothing(0) == "", "seldom sampled, and long enough"
    assert seen(range(30), events=[state("training", 3)]).why_nothing(0) == ""
