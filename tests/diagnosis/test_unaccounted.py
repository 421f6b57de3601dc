"""What of a step has no name speaks against the one machine that it grows at."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from diagnosis.playing import diagnose, firing
from diagnosis.synthetic import JOB, START, Scene, node_name
from paramedic.diagnosis.contract import Fault
from paramedic.diagnosis.symptoms import LOADING_METRIC, UNACCOUNTED_METRIC
from paramedic.diagnosis.unaccounted import Unaccounted
from paramedic.ingest.contract import Entity, EntityKey, NodeName, TelemetryBatch, Window

METRICS = ("step_seconds", "collective_seconds", "compute_seconds", LOADING_METRIC)
ROWS = tuple(EntityKey(Entity.RANK, NodeName(f"n{at // 2}"), at) for at in range(8))
SLOTS = 6


@dataclass
class Steps:
    """Ranks of a step of 4 s: 2.5 s of computing, a tenth of loading, the rest is waited for."""

    memory: Unaccounted = field(default_factory=Unaccounted)
    metrics: tuple[str, ...] = METRICS
    telling: tuple[int, ...] = tuple(range(len(ROWS)))
    accused: frozenset[NodeName] = frozenset()

    def told(
        self, unnamed: dict[int, float] | None = None, computing: dict[int, float] | None = None
    ) -> NDArray[np.float64]:
        """How much more than usual is unaccounted for, by rank, when all make one more step."""
        own = np.zeros(len(ROWS))
        values = np.zeros((len(ROWS), len(METRICS), SLOTS))
        values[:, 2] = 2.5
        values[:, 3] = 0.1
        for rank, seconds in (unnamed or {}).items():
            own[rank] = seconds
        for rank, seconds in (computing or {}).items():
            values[rank, 2] += seconds
        busy = values[:, 2, 0] + own
        values[:, 0] = 1.5 + busy.max()
        values[:, 1] = values[:, 0] - values[:, 2] - values[:, 3] - own[:, None]
        kept = [METRICS.index(one) for one in self.metrics]
        values = values[:, kept]
        steps = Window(
            JOB, 0, Entity.RANK, START, ROWS, self.metrics, values, np.ones(values.shape, np.bool_)
        )
        telling = np.isin(np.arange(len(ROWS)), self.telling)
        found = self.memory.beside(steps, telling, self.accused)
        if UNACCOUNTED_METRIC not in found.metrics:
            return np.full(len(ROWS), np.nan)
        column = found.values[:, found.metrics.index(UNACCOUNTED_METRIC)]
        assert not column[:, :-1].any()
        return column[:, -1].astype(np.float64)

    def live(self, steps: int, unnamed: dict[int, float] | None = None) -> None:
        for _ in range(steps):
            self.told(unnamed)


def lived(**changes: object) -> Steps:
    steps = replace(Steps(), **changes)  # type: ignore[arg-type]
    steps.live(8)
    return steps


def test_a_rank_that_holds_all_others_up_without_a_word_of_why_is_seen() -> None:
    np.testing.assert_allclose(lived().told({3: 1.5}), [0, 0, 0, 1.5, 0, 0, 0, 0], atol=1e-9)


def test_both_ranks_of_one_machine_may_show_it() -> None:
    assert np.flatnonzero(lived().told({2: 1.2, 3: 1.5})).tolist() == [2, 3]


@pytest.mark.parametrize(
    ("unnamed", "computing"),
    [({3: 1.5, 6: 0.8}, {}), ({3: 1.5}, {6: 0.8}), ({3: 0.1}, {})],
    ids=["another machine too", "another computes longer, and it waits for that", "too little"],
)
def test_it_speaks_against_nobody_where_another_is_about_as_late_or_nobody_is(
    unnamed: dict[int, float], computing: dict[int, float]
) -> None:
    assert not lived().told(unnamed, computing).any()


def test_what_has_always_had_no_name_is_usual() -> None:
    steps = Steps()
    steps.live(8, {3: 1.5})
    assert not steps.told({3: 1.5}).any()


def test_nothing_is_said_of_ranks_of_which_little_is_known() -> None:
    steps = Steps()
    steps.live(4)
    assert not steps.told({3: 1.5}).any()


def test_who_is_late_goes_on_being_late_and_is_not_learned() -> None:
    steps = lived()
    steps.live(200, {3: 1.5})
    assert steps.told({3: 1.5})[3] == pytest.approx(1.5)


def test_of_who_is_accused_nothing_is_learned() -> None:
    steps = lived(accused=frozenset({NodeName("n1")}))
    steps.memory = lived().memory
    steps.live(60, {3: 1.5, 6: 1.5})
    assert steps.told({3: 1.5, 6: 0.0})[3] == pytest.approx(1.5)


def test_who_has_told_of_no_step_is_not_asked() -> None:
    steps = lived()
    steps.telling = (0, 1, 2, 4, 5, 6, 7)
    assert steps.told({3: 1.5})[3] == 0.0


@pytest.mark.parametrize("missing", METRICS[:3])
def test_without_the_parts_of_a_step_nothing_is_worked_out(missing: str) -> None:
    steps = Steps(metrics=tuple(one for one in METRICS if one != missing))
    assert np.isnan(steps.told({3: 1.5})).all()


def test_a_trainer_that_does_not_tell_of_loading_is_judged_all_the_same() -> None:
    steps = lived(metrics=METRICS[:3])
    assert steps.told({3: 1.5})[3] == pytest.approx(1.5)


@given(st.lists(st.floats(0.0, 3.0), min_size=8, max_size=8))
def test_never_more_than_one_machine_shows_it(unnamed: list[float]) -> None:
    found = lived().told(dict(enumerate(unnamed)))
    assert len({ROWS[at].node for at in np.flatnonzero(found).tolist()}) <= 1


def stalling(scene: Scene, batch: TelemetryBatch, rank: int, since: int) -> TelemetryBatch:
    """The batch of a job in which one rank stalls for half a second a step, and all wait for it."""
    if batch.second < START + since:
        return batch
    tables = []
    for table in batch.tables:
        if table.entity is Entity.RANK:
            waited = [one + 0.5 for one in table.columns["collective_seconds"]]
            waited[rank] -= 0.5
            step = tuple(one + 0.5 for one in table.columns["step_seconds"])
            columns = {"step_seconds": step, "collective_seconds": tuple(waited)}
            table = replace(table, columns={**table.columns, **columns})
        tables.append(table)
    assert len(tables[1].nodes) == scene.ranks
    return replace(batch, tables=tuple(tables))


@pytest.mark.long
def test_a_rank_that_stalls_beside_its_work_is_named_in_seconds() -> None:
    scene = Scene(ranks=6, seconds=80, noise=0.05)
    (verdict,) = firing(diagnose([stalling(scene, one, 4, 40) for one in scene.batches()]))
    assert (verdict.node, verdict.rank, verdict.fault) == (node_name(4), 4, Fault.STRAGGLER)
    assert verdict.detected_at.timestamp() - START - 40 <= 8
    assert "holds each step up" in verdict.summary
    assert verdict.evidence[0].metric == UNACCOUNTED_METRIC
