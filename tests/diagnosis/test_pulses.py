"""Heart-beats and progress as arrays: the same as one rank after the other, whoever comes."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from paramedic.diagnosis.pulses import Pulse, Pulses
from paramedic.diagnosis.seats import Seats
from paramedic.ingest.contract import Entity, NodeName, Table

NAN = math.nan
A, B, C = (NodeName(name) for name in "abc")


@dataclass
class Plain:
    """One rank, as it would be written down without arrays."""

    node: NodeName
    rank: int
    generation: int
    beats: int = 0
    in_a_row: int = 0
    last: int = 0
    interval: int = 1
    gap: int = 1
    heard_at: int = 0
    told: float = 0.0
    step: float = -math.inf
    progressed: int | None = None

    def take(self, told: float, step: float, second: int, job_second: int) -> None:
        is_new = told > 0 and (told <= 1 or told > self.told)
        self.told = max(self.told, told)
        if is_new and (not self.beats or second > self.last):
            self.beat(second, job_second)
        if step > self.step:
            self.step, self.progressed = step, second

    def beat(self, second: int, job_second: int) -> None:
        gap = second - self.last
        self.in_a_row = self.in_a_row + 1 if self.beats and gap <= 2 else 1
        if self.beats:
            self.interval, self.gap = min(gap, self.gap), gap
        self.beats, self.last = self.beats + 1, second
        self.heard_at = max(second, job_second)

    def pulse(self) -> Pulse:
        return Pulse(
            self.node,
            self.rank,
            self.generation,
            self.beats,
            self.in_a_row,
            self.last,
            self.interval,
            self.heard_at,
            self.step,
            self.progressed,
        )


class PlainPulses:
    """All ranks, one after the other."""

    def __init__(self) -> None:
        self.known: dict[int, Plain] = {}

    def seat(self, node: NodeName, rank: int, generation: int) -> Plain | None:
        one = self.known.get(rank)
        if one is not None and one.node == node:
            if generation > one.generation:
                one.generation, one.step = generation, -math.inf
            return one
        if one is not None and one.generation >= generation:
            return None
        for other in [p for p in self.known.values() if p.node == node]:
            if other.generation < generation:
                del self.known[other.rank]
        self.known[rank] = Plain(node, rank, generation)
        return self.known[rank]


Row = tuple[NodeName, int, float, float]
ROWS = st.lists(
    st.tuples(
        st.sampled_from((A, B, C)),
        st.integers(0, 4),
        st.sampled_from((NAN, 0.0, 1.0, 50.0, 60.0, 70.0)),
        st.sampled_from((NAN, 1.0, 2.0, 3.0)),
    ),
    max_size=6,
)
BATCHES = st.lists(
    st.tuples(ROWS, st.integers(0, 2), st.integers(100, 108), st.sampled_from((None, A, B))),
    max_size=8,
)


def table(rows: Sequence[Row]) -> Table:
    columns = {"heartbeat": [row[2] for row in rows], "step": [row[3] for row in rows]}
    nodes, ranks = tuple(row[0] for row in rows), tuple(row[1] for row in rows)
    return Table(Entity.RANK, nodes, ranks, columns)


@given(BATCHES)
def test_arrays_say_the_same_as_one_rank_after_the_other(
    batches: list[tuple[list[Row], int, int, NodeName | None]],
) -> None:
    arrays, plain = Pulses(Seats()), PlainPulses()
    for at, (rows, generation, second, gone) in enumerate(batches):
        departed = frozenset() if gone is None else frozenset((gone,))
        arrays.take(table(rows), generation, second, 104, departed)
        for node, rank, told, step in rows:
            one = None if node in departed else plain.seat(node, rank, generation)
            if one is not None:
                one.take(told, step, second, 104)
        if at % 3 == 2:
            arrays.forget(B)
            plain.known = {rank: one for rank, one in plain.known.items() if one.node != B}
            arrays = copy.deepcopy(arrays)
        assert list(arrays) == [one.pulse() for one in plain.known.values()]


def beating(ranks: int, seconds: int, silent: dict[int, int]) -> Pulses:
    """Each rank on a node of its own beats every second from 100 on, until it is silent."""
    found, nodes = Pulses(Seats()), tuple(NodeName(f"n{at}") for at in range(ranks))
    indices = tuple(range(ranks))
    for second in range(100, 100 + seconds):
        told = [0.0 if second >= silent.get(rank, 10**9) else float(second) for rank in indices]
        columns = {"heartbeat": told, "step": told}
        found.take(Table(Entity.RANK, nodes, indices, columns), 0, second, second, ())
    return found


def test_the_silent_are_those_that_were_not_heard_for_so_long() -> None:
    found = beating(5, 20, {1: 105, 3: 112})
    assert [one.rank for one in found.silent(119, 8.0, 3)] == [1, 3]
    assert [one.rank for one in found.silent(119, 8.0, 6)] == [3]
    assert [one.rank for one in found.longest_silent(3)] == [1, 3, 0]
    assert found.count_silent(119, 10.0, 3.0) == (1, 5)
    assert (found.steady(13), found.steady(20)) == (3, 3)
    assert sorted(found.beaten_seconds.tolist()) == [104, 111, 119, 119, 119]


def test_progress_is_that_of_any_rank() -> None:
    assert Pulses(Seats()).newest_progress() is None
    found = beating(3, 4, {})
    assert (found.newest_progress(), found.highest_step()) == (103, 103.0)
    names = (NodeName("n0"),)
    told = {"heartbeat": [104.0], "step": [103.0]}
    assert not found.take(Table(Entity.RANK, names, (0,), told), 0, 104, 104, ())
    assert found.newest_progress() == 103


def test_a_rank_is_found_by_its_number() -> None:
    found = beating(3, 4, {})
    one = found.of_rank(2)
    assert one is not None
    assert one.node == "n2"
    assert found.of_rank(7) is None
    assert found.of_rank(None) is None


def told(second: int, ranks: dict[int, float], pulses: Pulses, generation: int = 0) -> bool:
    """These ranks beat, each at its step; returns whether the job has made another."""
    nodes, steps = tuple(NodeName(f"n{rank}") for rank in ranks), list(ranks.values())
    columns = {"heartbeat": [1.0] * len(ranks), "step": steps}
    one = Table(Entity.RANK, nodes, tuple(ranks), columns)
    return pulses.take(one, generation, second, second, ())


def test_who_tells_of_a_step_late_makes_no_other_one() -> None:
    found = Pulses(Seats())
    assert told(100, {0: 1, 1: 1, 2: 1}, found)
    assert told(110, {0: 2}, found)
    assert not told(111, {1: 2}, found)
    assert not told(113, {2: 2}, found)
    assert told(120, {2: 3}, found)
    assert told(150, {0: 2, 1: 2}, found, generation=1)


def test_silences_that_ended_are_those_of_one_generation() -> None:
    found, silence = Pulses(Seats()), {7: 0, 19: 0, 31: 0}
    for second in range(100, 140):
        silent = [at for at in silence if at <= second - 100 < at + 6]
        told(second, {rank: 1.0 for rank in range(5) if not silent or rank != silent[0] % 5}, found)
    assert found.ended.usual_seconds(140) == 7
    for second in (200, 220, 240, 260):
        told(second, {0: 1.0} if second < 240 else {0: 1.0, 2: 1.0}, found, second // 20 - 9)
    assert found.ended.usual_seconds(260) == 7
