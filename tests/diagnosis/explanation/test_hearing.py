"""What is heard of a node, and what only its peers send."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from paramedic.diagnosis.absence import AbsenceWatch
from paramedic.diagnosis.explanation.hearing import of_hearing
from paramedic.diagnosis.explanation.standing import Standing
from paramedic.ingest.contract import Entity, EntityKey, JobName, NodeName, Window

A = NodeName("a")
SLOTS = 20


def window(
    nodes: str = "abcd",
    entity: Entity = Entity.GPU,
    *,
    silent: int = 0,
    lacks: tuple[str, ...] = (),
    width: int = 1,
) -> Window:
    """Node a is silent in the newest slots, and never sends some of the metrics m0 to m5."""
    rows = tuple(EntityKey(entity, NodeName(name), 0) for name in nodes)
    metrics = tuple(f"m{number}" for number in range(6))
    observed = np.ones((len(rows), len(metrics), SLOTS), np.bool_)
    observed[:1, :, SLOTS - silent :] = False
    observed[:1, [metrics.index(name) for name in lacks]] = False
    values = np.where(observed, 1.0, np.nan)
    return Window(JobName("j"), 0, entity, 1000, rows, metrics, values, observed, width)


def heard(one: Window, node: NodeName = A) -> Standing:
    (standing,) = of_hearing(node, {one.entity: one}, AbsenceWatch(30))
    return standing


def test_what_is_heard_now_is_silent_for_no_time() -> None:
    one = heard(window())
    assert (one.kind, one.evidence, one.level, one.since) == ("GPU telemetry", 0.0, 30.0, None)
    assert one.note == "3 rows of others to compare it with"


@pytest.mark.parametrize("width", [1, 15])
def test_a_silence_is_told_in_seconds(width: int) -> None:
    one = heard(window(silent=6, width=width))
    assert one.evidence == 6 * width
    assert one.since is not None
    assert one.since.timestamp() == 1000 + 13 * width


def test_nothing_at_all_is_told_apart_from_a_silence() -> None:
    one = heard(window(silent=SLOTS))
    assert (one.evidence, one.level) == (None, 30.0)
    assert one.note == "no GPU telemetry of it in the last 20 s, though of others"
    assert heard(window(), NodeName("z")).evidence is None
    nobody = heard(window("a", silent=SLOTS))
    assert nobody.note == "no GPU telemetry of it in the last 20 s, nor of any other"


def test_a_silence_that_is_longer_than_the_window_goes_on_being_counted() -> None:
    absences, seen = AbsenceWatch(30), {}
    for second in range(60):
        hosts = window(entity=Entity.NODE, silent=min(max(0, second - 35), SLOTS))
        seen = {Entity.NODE: replace(hosts, first_second=1000 + second)}
        list(absences.judge(seen))
    (one,) = of_hearing(A, seen, absences)
    assert (one.evidence, one.level, one.unit, one.since) == (24.0, 30.0, "s", None)


def test_of_a_silence_only_counts_while_others_are_heard() -> None:
    absences, seen = AbsenceWatch(30), {}
    for second in range(60):
        one = window(entity=Entity.NODE, silent=max(0, second - 48))
        if second >= 54:
            one.observed[1:, :, -(second - 53) :] = False
        seen = {Entity.NODE: replace(one, first_second=1000 + second)}
        list(absences.judge(seen))
    (found,) = of_hearing(A, seen, absences)
    (hold,) = found.holds
    assert hold.why.startswith("a silence counts while most other nodes are heard")
    assert hold.now is not None
    assert hold.needed is not None
    assert hold.now < hold.needed


def test_a_few_missing_metrics_are_named_and_the_rest_counted() -> None:
    assert heard(window(lacks=("m1", "m3"))).note.endswith("and it does not: m1, m3")
    five = heard(window(lacks=("m0", "m1", "m2", "m3", "m4")))
    assert five.note.endswith("m0, m1, m2, m3 and 1 more")


def test_who_is_alone_has_nobody_to_be_compared_with() -> None:
    assert heard(window("a")).note == "nobody to compare it with"


def test_ranks_have_no_time_out_of_their_own_and_kinds_that_nobody_sends_are_left_out() -> None:
    ranks, hosts = window(entity=Entity.RANK), window("", Entity.NODE)
    (only,) = of_hearing(A, {Entity.RANK: ranks, Entity.NODE: hosts}, AbsenceWatch(30))
    assert (only.kind, only.level) == ("rank telemetry", None)
    (nobody,) = of_hearing(A, {Entity.NODE: hosts}, AbsenceWatch(30))
    assert nobody.note == "no node is heard of"
