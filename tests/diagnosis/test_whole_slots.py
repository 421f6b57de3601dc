"""A slot is whole when everybody who has told anything in the window has told of it."""

from __future__ import annotations

import numpy as np
import pytest

from paramedic.diagnosis.rank_judging import is_whole
from paramedic.ingest.contract import Entity, EntityKey, JobName, NodeName, Window


def told(*rows: list[bool]) -> Window:
    """A row each, of which a slot each was observed or not."""
    observed = np.array(rows, np.bool_).reshape(len(rows), 1, 3)
    keys = tuple(EntityKey(Entity.RANK, NodeName(f"n{at}"), at) for at in range(len(rows)))
    values = np.where(observed, 1.0, np.nan)
    return Window(JobName("j"), 0, Entity.RANK, 100, keys, ("step",), values, observed)


@pytest.mark.parametrize(
    ("window", "whole"),
    [
        (told([True, True, True], [True, True, True]), True),
        (told([True, True, True], [True, True, False]), False),
        (told([True, True, True], [True, False, False]), False),
        (told([True, True, True], [False, False, False]), True),
        (told([True, True, False], [True, True, False]), False),
        (told(), False),
    ],
)
def test_a_slot_is_whole_once_all_who_tell_have_told_and_never_where_nobody_is(
    window: Window, *, whole: bool
) -> None:
    assert is_whole(window) is whole
