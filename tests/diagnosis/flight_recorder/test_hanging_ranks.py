"""Who holds the others up, in jobs of any shape and wherever the hang is."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from paramedic.diagnosis.flight_recorder.hanging import hanging_ranks
from paramedic.diagnosis.flight_recorder.reading import Pending, RankDump


def dumps_of(stages: int, tensor: int, hanging: set[int], behind: int) -> list[RankDump]:
    """A job of so many pipeline stages and tensor ranks, in which some ranks never came.

    Who shares a tensor group with them waits there; everybody else waits in the group over the
    stages for those who wait. `behind` is how many collectives the hanging ones never began.
    """
    tensor_groups = [tuple(range(s * tensor, (s + 1) * tensor)) for s in range(stages)]
    over_stages = [tuple(range(t, stages * tensor, tensor)) for t in range(tensor)]
    dumps = []
    for rank in range(stages * tensor):
        stage, place = divmod(rank, tensor)
        groups = {f"tensor-{stage}": tensor_groups[stage], f"stages-{place}": over_stages[place]}
        pending: dict[str, Pending] = {}
        if rank not in hanging:
            if hanging.intersection(tensor_groups[stage]):
                pending[f"tensor-{stage}"] = Pending(100, 99 + behind)
            elif stages > 1:
                pending[f"stages-{place}"] = Pending(7, 7)
        dumps.append(RankDump(rank, groups, pending))
    return dumps


@settings(max_examples=20)
@given(
    stages=st.integers(1, 3),
    tensor=st.integers(2, 4),
    behind=st.integers(1, 5),
    at=st.integers(0, 99),
)
def test_the_one_that_never_came_is_named_alone(
    stages: int, tensor: int, behind: int, at: int
) -> None:
    hung = at % (stages * tensor)
    assert hanging_ranks(dumps_of(stages, tensor, {hung}, behind)) == {hung}


def test_two_that_hang_in_groups_of_their_own_are_both_named() -> None:
    assert hanging_ranks(dumps_of(2, 4, {1, 6}, behind=3)) == {1, 6}


def test_a_rank_without_a_dump_is_named_when_the_others_wait_for_it() -> None:
    dumps = [one for one in dumps_of(1, 4, {2}, behind=1) if one.rank != 2]
    assert hanging_ranks(dumps) == {2}


def test_a_rank_alone_in_its_group_waits_for_nobody() -> None:
    alone = RankDump(0, {"own": (0,)}, {"own": Pending(3, 4)})
    assert not hanging_ranks([alone])
