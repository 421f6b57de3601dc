"""Ranks whose loading takes longer than that of others: what matters is the share of the step."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.diagnosis.materiality import LEAST_SHARE
from paramedic.diagnosis.settings import StragglerSettings
from paramedic.diagnosis.straggler import StragglerWatch
from paramedic.ingest.contract import Entity, EntityKey, NodeName
from paramedic.models.contract import AnomalyScores

PARTS = {"collective_seconds": 0.05, "compute_seconds": 0.5, "dataloader_seconds": 0.014}
STEP = sum(PARTS.values())
RANKS, SLOW = 8, 3
ROWS = tuple(EntityKey(Entity.RANK, NodeName(f"n{rank}"), rank) for rank in range(RANKS))


def accused(part: str, extra: list[float], told: dict[str, float]) -> set[int | None]:
    """Who is accused when one rank's part takes so much longer, slot by slot, beyond all doubt."""
    watch, found = StragglerWatch(StragglerSettings()), set()
    shape = (RANKS, len(told))
    for second, seconds in enumerate(extra):
        value = np.tile(list(told.values()), (RANKS, 1))
        deviation = np.tile(np.linspace(-0.5, 0.5, RANKS)[:, None], (1, shape[1]))
        value[SLOW, list(told).index(part)] += seconds
        deviation[SLOW] = [6.0 if one == part else -1.0 for one in told]
        peers = np.broadcast_to(list(told.values()), shape)
        scores = AnomalyScores(second, ROWS, tuple(told), deviation, value, peers)
        found |= {one.row.index for one in watch.weigh(scores)}
    return found


def test_half_as_much_loading_again_is_nothing_in_a_step_that_computes() -> None:
    assert accused("dataloader_seconds", [0.007] * 30, PARTS) == set()


def test_a_share_of_the_step_is_named_however_small_the_part_was() -> None:
    assert accused("dataloader_seconds", [0.06] * 30, PARTS) == {SLOW}


def test_now_and_then_a_long_wait_is_no_share_of_the_steps() -> None:
    glitches = [0.06 if second % 4 == 0 else 0.004 for second in range(60)]
    assert accused("dataloader_seconds", glitches, PARTS) == set()


@pytest.mark.parametrize("step", [0.6, 6.0])
def test_the_step_that_is_told_counts_more_than_its_parts(step: float) -> None:
    named = accused("compute_seconds", [0.1] * 30, {**PARTS, "step_seconds": step})
    assert named == ({SLOW} if step < 1 else set())


def test_where_a_part_is_all_that_is_told_its_ratio_decides() -> None:
    assert accused("dataloader_seconds", [0.007] * 30, {"dataloader_seconds": 0.014}) == {SLOW}


@given(st.sampled_from(["compute_seconds", "dataloader_seconds"]), st.floats(0.0, 0.3))
def test_nobody_is_accused_of_less_than_the_least_share(part: str, extra: float) -> None:
    named = accused(part, [extra] * 20, PARTS)
    assert not named or extra >= 0.999 * LEAST_SHARE * STEP
