"""What speaks against a card and against its host adds up, where it may have one cause."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.diagnosis.host_support import with_hosts
from paramedic.diagnosis.node_evidence import SUSPECT
from paramedic.ingest.contract import Entity, EntityKey, NodeName

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.diagnosis.evidence import Evidence

CARDS = tuple(EntityKey(Entity.GPU, NodeName(f"n{at // 2}"), at % 2) for at in range(4))
HOSTS = tuple(EntityKey(Entity.NODE, NodeName(f"n{at}")) for at in range(2))


@dataclass(frozen=True)
class Told:
    """Evidence as far as it is asked."""

    rows: tuple[EntityKey, ...]
    strength: np.ndarray[tuple[int], np.dtype[np.float64]]
    begun: int = 100

    def sinces(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        return np.full(rows.size, float(self.begun))


def joint(cards: list[float], hosts: list[float], begun: int = 100) -> list[float]:
    found = with_hosts(
        cast("Evidence", Told(CARDS, np.array(cards))),
        cast("Evidence", Told(HOSTS, np.array(hosts), begun)),
    )
    return [round(one, 3) for one in found.tolist()]


def test_a_suspected_card_is_surer_with_what_its_own_host_shows() -> None:
    assert joint([0.8, 0.1, 0.8, 0.0], [0.5, 0.0]) == [1.13, 0.1, 0.8, 0.0]


def test_what_a_host_shows_makes_nobody_a_suspect() -> None:
    least = round(SUSPECT, 3)
    assert joint([least - 0.01] * 4, [2.0, 2.0]) == [round(least - 0.01, 3)] * 4


@pytest.mark.parametrize(("begun", "adds_up"), [(70, True), (130, True), (131, False), (40, False)])
def test_evidence_that_began_at_another_time_has_another_cause(
    begun: int, *, adds_up: bool
) -> None:
    assert (joint([0.8, 0.0, 0.0, 0.0], [0.9, 0.0], begun)[0] > 1) is adds_up


@given(st.lists(st.floats(0, 2), min_size=6, max_size=6))
def test_nobody_is_less_sure_than_by_itself(strengths: list[float]) -> None:
    cards = [round(one, 3) for one in strengths[:4]]
    assert all(both >= one for both, one in zip(joint(cards, strengths[4:]), cards, strict=True))
