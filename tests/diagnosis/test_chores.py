"""Which hosts are busy, and what that explains of themselves and of others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from diagnosis.synthetic import JOB
from paramedic.diagnosis.chores import Chores, does_not_decide_otherwise
from paramedic.diagnosis.cost import Cost
from paramedic.diagnosis.departure import Departure
from paramedic.diagnosis.node_evidence import NodeEvidence
from paramedic.ingest.contract import Entity, EntityKey, NodeName, Window
from paramedic.models.departure.character import characters_of
from paramedic.models.departure.model import Departures

HOST = ("cpu_utilization_ratio", "disk_throughput_bytes_per_second", "disk_read_latency_seconds")
CPU, DISK, LATENCY = HOST
CARD = ("gpu_tensor_active_ratio", "gpu_power_watts", "gpu_pcie_replays_per_second")
TENSOR, POWER, REPLAYS = CARD
PAUSED = "pfc_tx_packets_per_second"
ME, OTHER, THIRD = (NodeName(f"n{at}") for at in range(3))
HOSTS = tuple(EntityKey(Entity.NODE, node) for node in (ME, OTHER, THIRD))
LAST = 399
ODD, HARDLY = 7.0, 6.0
"""In nats."""


def slot(nats: Mapping[tuple[str, NodeName], float], metrics: tuple[str, ...] = HOST) -> Departures:
    """Two paces, of which the second shows this; what is below zero is less than the peers'."""
    odd = np.zeros((2, len(metrics), len(HOSTS)))
    for (metric, node), much in nats.items():
        odd[1, metrics.index(metric), HOSTS.index(EntityKey(Entity.NODE, node))] = much
    known = np.ones(odd.shape[1:], np.bool_)
    characters = characters_of(metrics)
    return Departures(
        HOSTS, metrics, np.abs(odd), odd.__getitem__, known, characters, has_turned=False
    )


def window(share: float = 1.0) -> Window:
    """The first of four machines does so much of what the others do."""
    metrics = (*CARD, *HOST)
    rows = tuple(EntityKey(Entity.GPU, NodeName(f"n{at}"), 0) for at in range(4))
    values = np.full((len(rows), len(metrics), 400), 100.0, np.float32)
    values[0] *= share
    return Window(JOB, 0, Entity.GPU, 0, rows, metrics, values, np.ones(values.shape, np.bool_))


def departure(
    *loud: str, seconds: int = 80, node: NodeName = ME, weights: Mapping[str, float] | None = None
) -> Departure:
    """Each of the loud metrics says as much, unless weights are given."""
    row = EntityKey(Entity.GPU, node, 0)
    told, said = dict.fromkeys(loud, -9.0), weights or {one: 1 / len(loud) for one in loud}
    return Departure(row, 0, (row,), LAST + 1 - seconds, LAST, 30.0, 20.0, told, loud, said)


def cost(one: Departure, share: float = 1.0, job_seconds: float | None = None) -> Cost:
    """Of a machine that does so much of what the others do, in a job that has lost so much."""
    lost_share = None if job_seconds is None else job_seconds / (one.second - one.since)
    return Cost.of(replace(one, job_lost_share=lost_share), window(share))


def busy(*nodes: NodeName, second: int = LAST) -> Chores:
    """These hosts are seen to be busy in this second."""
    chores = Chores()
    chores.look(slot(dict.fromkeys(((CPU, one) for one in nodes), ODD)), 1, second)
    return chores


def said_to_be_busy(chores: Chores) -> set[NodeName]:
    """Those of whom it is explained that they are busy."""
    found = {node: departure(CPU, node=node) for node in (ME, OTHER, THIRD)}
    return {node for node, one in found.items() if chores.explain(one, {}, cost(one))}


@pytest.mark.parametrize(
    ("nats", "found"),
    [
        ({(CPU, ME): ODD, (DISK, THIRD): ODD}, {ME, THIRD}),
        ({(CPU, ME): HARDLY}, set()),
        ({(CPU, ME): -ODD}, set()),
        ({(CPU, ME): -ODD, (DISK, ME): ODD}, {ME}),
        ({(LATENCY, ME): ODD}, set()),
    ],
)
def test_a_host_is_busy_that_does_far_more_than_its_peers(
    nats: Mapping[tuple[str, NodeName], float], found: set[NodeName]
) -> None:
    for pace, expected in enumerate((set[NodeName](), found)):
        chores = Chores()
        chores.look(slot(nats), pace, LAST)
        assert said_to_be_busy(chores) == expected


def test_who_is_busy_is_not_known_where_nothing_tells_of_it() -> None:
    for seen in (None, slot({(LATENCY, ME): ODD}, (LATENCY,))):
        chores = Chores()
        chores.look(seen, 1, LAST)
        assert said_to_be_busy(chores) == set()


@pytest.mark.parametrize("seen", [None, slot({}), slot({}, (LATENCY,))])
def test_a_host_of_which_nothing_is_heard_is_busy_for_half_a_minute_more(
    seen: Departures | None,
) -> None:
    chores = busy(ME, second=LAST - 30)
    chores.look(slot({(CPU, THIRD): ODD}), 1, LAST - 10)
    chores.look(seen, 1, LAST)
    assert said_to_be_busy(chores) == {ME, THIRD}
    chores.look(seen, 1, LAST + 1)
    assert said_to_be_busy(chores) == {THIRD}


@pytest.mark.parametrize(
    ("lost_share", "seconds", "is_borne"),
    [(0.06, 80, True), (0.11, 80, True), (0.12, 80, False), (0.2, 80, False), (0.06, 220, False)],
)
def test_a_busy_host_explains_the_work_that_it_loses_as_long_as_it_is_little(
    lost_share: float, seconds: int, *, is_borne: bool
) -> None:
    one = departure(TENSOR, POWER, seconds=seconds)
    assert busy(ME).explain(one, {}, cost(one, 1 - lost_share)) is is_borne
    assert busy().explain(one, {}, cost(one, 1 - lost_share)) is False


def test_a_busy_host_explains_no_errors() -> None:
    for loud in ((REPLAYS,), (TENSOR, REPLAYS), (CPU, REPLAYS)):
        one = departure(*loud)
        assert not busy(ME).explain(one, {}, cost(one, 0.94))


@pytest.mark.parametrize(
    ("lost_seconds", "for_seconds", "is_explained"),
    [(None, 240, False), (0.0, 240, True), (8.0, 4000, True), (10.0, 100, False)],
)
def test_a_job_that_goes_on_as_before_bears_a_busy_host_and_one_that_is_slower_does_not(
    lost_seconds: float | None, for_seconds: int, *, is_explained: bool
) -> None:
    one = departure(CPU, seconds=for_seconds)
    assert busy(ME).explain(one, {}, cost(one, 1.0, lost_seconds)) is is_explained
    assert not busy(OTHER).explain(one, {}, cost(one, 1.0, lost_seconds))


@pytest.mark.parametrize(("errors", "is_explained"), [(0.08, True), (0.12, False)])
def test_a_busy_host_explains_what_it_says_nine_tenths_of(
    errors: float, *, is_explained: bool
) -> None:
    half = (1 - errors) / 2
    one = departure(TENSOR, CPU, weights={TENSOR: half, CPU: half, REPLAYS: errors})
    assert busy(ME).explain(one, {}, cost(one, 0.94)) is is_explained


@pytest.mark.parametrize("loud", [(CPU,), (LATENCY,), (CPU, DISK, LATENCY), (PAUSED, CPU)])
def test_a_busy_host_explains_that_it_is_busy_and_answers_slowly_for_minutes_only(
    loud: tuple[str, ...],
) -> None:
    short, long = departure(*loud, seconds=239), departure(*loud, seconds=240)
    assert busy(ME).explain(short, {}, cost(short, 3.0))
    assert not busy(ME).explain(long, {}, cost(long, 3.0))
    assert not busy(OTHER).explain(short, together(0), cost(short, 3.0))


def together(later: int, strength: float = 0.4, seconds: int = 80) -> dict[NodeName, NodeEvidence]:
    """What stands against the other, who began so many seconds later."""
    return {OTHER: NodeEvidence(strength, LAST + 1 - seconds + later)}


@pytest.mark.parametrize("later", [-12, 0, 12])
def test_a_busy_host_explains_what_others_lose_that_began_with_it(later: int) -> None:
    one, chores = departure(TENSOR, POWER), busy(THIRD, OTHER)
    assert chores.explain(one, together(later), cost(one, 0.94))
    assert not chores.explain(one, together(later), cost(one, 0.8))


@pytest.mark.parametrize(("seconds", "is_explained"), [(239, True), (240, False)])
def test_what_is_lost_for_longer_than_a_chore_lasts_is_nobodys_chore(
    seconds: int, *, is_explained: bool
) -> None:
    one, standing = departure(TENSOR, seconds=seconds), together(0, seconds=seconds)
    assert busy(ME).explain(one, {}, cost(one, 0.97)) is is_explained
    assert busy(OTHER).explain(one, standing, cost(one, 0.97)) is is_explained


def test_a_busy_host_explains_nothing_of_others_but_their_work() -> None:
    said = {TENSOR: 0.88, LATENCY: 0.12}
    one = departure(TENSOR, LATENCY, weights=said)
    assert busy(ME).explain(one, {}, cost(one, 0.94))
    assert not busy(OTHER).explain(one, together(0), cost(one, 0.94))


@pytest.mark.parametrize(
    "standing", [together(13), together(-13), together(0, strength=0.3), {}],
    ids=["it began later", "it began before", "little speaks against it", "nothing does"],
)  # fmt: skip
def test_a_busy_host_explains_nothing_of_others_where(
    standing: dict[NodeName, NodeEvidence],
) -> None:
    one = departure(TENSOR)
    assert not busy(OTHER).explain(one, standing, cost(one, 0.94))


def test_a_busy_host_that_works_more_than_its_peers_is_explained_as_well() -> None:
    more = replace(departure(TENSOR, seconds=80), told_by={TENSOR: 9.0})
    assert busy(ME).explain(more, {}, cost(more, 1.06))


@pytest.mark.parametrize(
    ("usage", "errors", "is_harmless"), [(0.6, 0.4, True), (0.2, 0.8, False), (0.35, 0.65, False)]
)
def test_what_a_busy_host_shows_besides_has_to_decide_by_itself(
    usage: float, errors: float, *, is_harmless: bool
) -> None:
    one = departure(CPU, REPLAYS, weights={CPU: usage, REPLAYS: errors})
    strong = replace(one, nats=1.8 * one.level)
    assert does_not_decide_otherwise(strong, cost(strong, 1.0, 0.0)) is is_harmless
    assert not does_not_decide_otherwise(strong, cost(strong, 1.0, 10.0))
    late = replace(strong, second=strong.second + 300)
    assert not does_not_decide_otherwise(late, cost(late, 1.0, None))


def test_what_a_busy_host_has_made_of_it_before_counts_as_much_as_what_is_said_now() -> None:
    """A chore that went by unnoticed, and a burst of errors at its end that is none of it."""
    burst = departure(CPU, REPLAYS, weights={CPU: 0.1, REPLAYS: 0.9})
    one = replace(burst, makers={CPU: 0.6, REPLAYS: 0.4})
    assert does_not_decide_otherwise(one, cost(one, 1.0, 0.0))
    assert not does_not_decide_otherwise(burst, cost(burst, 1.0, 0.0))


@pytest.mark.parametrize(("share", "is_harmless"), [(0.97, True), (0.5, False)])
def test_work_that_is_hardly_less_does_not_count_beside_a_busy_host(
    share: float, *, is_harmless: bool
) -> None:
    said = {CPU: 0.4, TENSOR: 0.5, REPLAYS: 0.1}
    one = departure(CPU, TENSOR, REPLAYS, weights=said, seconds=60)
    strong = replace(one, nats=1.8 * one.level)
    assert does_not_decide_otherwise(strong, cost(strong, share, 0.0)) is is_harmless


@pytest.mark.parametrize(("times", "is_explained"), [(3.0, True), (6.0, False)])
def test_a_disk_that_answers_many_times_as_slowly_is_explained_by_no_chore(
    times: float, *, is_explained: bool
) -> None:
    one = departure(CPU, LATENCY)
    assert busy(ME).explain(one, {}, cost(one, times, 0.0)) is is_explained
    assert does_not_decide_otherwise(one, cost(one, times, 0.0)) is is_explained
