"""How plainly a fault shows, measured with hindsight."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from diagnosis.benchmark.staged import BEGIN, NODES, fault, history
from paramedic.diagnosis.benchmark.episodes import Fault
from paramedic.diagnosis.benchmark.shown import metrics_that_show
from paramedic.ingest.contract import Entity
from paramedic.models.history import JobHistory

BROKEN = fault(2, at=100)


def shown(one: JobHistory, broken: Fault) -> int:
    return len(metrics_that_show(one, broken, broken.nodes))


def with_constant_metric(one: JobHistory) -> JobHistory:
    window = one.windows[Entity.NODE]
    flat = np.full_like(window.values, 5.0)
    return replace(
        one,
        windows={
            Entity.NODE: replace(
                window,
                metrics=(*window.metrics, "memory_used_ratio"),
                values=np.concatenate([window.values, flat], axis=1),
                observed=np.concatenate([window.observed, window.observed], axis=1),
            )
        },
    )


def test_a_change_of_one_metric_shows_in_one() -> None:
    assert shown(with_constant_metric(history([BROKEN])), BROKEN) == 1


def test_where_nothing_changed_nothing_shows() -> None:
    assert shown(with_constant_metric(history()), BROKEN) == 0


def test_what_all_machines_do_together_is_no_sign() -> None:
    everybody = fault(0, 1, 2, 3, at=100)
    assert shown(history([everybody]), BROKEN) == 0


def test_what_comes_after_the_machine_has_stopped_does_not_count() -> None:
    late = fault(2, at=150)
    stopped = replace(BROKEN, stopped_at=BEGIN + 150)
    assert shown(history([late]), stopped) == 0
    assert shown(history([late]), replace(stopped, stopped_at=BEGIN + 190)) == 1


def test_a_metric_that_nobody_has_and_an_onset_outside_show_nothing() -> None:
    unseen = history([BROKEN])
    window = unseen.windows[Entity.NODE]
    window.values[:] = np.nan
    window.observed[:] = False
    assert shown(unseen, BROKEN) == 0
    assert shown(history([BROKEN]), fault(2, at=0)) == 0


def test_another_broken_machine_is_no_peer() -> None:
    two = [BROKEN, fault(0, 1, at=100)]
    alone = metrics_that_show(history(two), BROKEN, NODES[:3])
    assert alone == {"load_average"}
    assert metrics_that_show(history(two), BROKEN, BROKEN.nodes) == frozenset()
