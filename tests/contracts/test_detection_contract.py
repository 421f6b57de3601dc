"""What holds for every detector that the benchmark compares. A new one is added to the roster."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch

from paramedic.diagnosis.benchmark.guard import is_disturbed
from paramedic.diagnosis.benchmark.roster import every_detector
from paramedic.diagnosis.benchmark.verdicts.detector import VerdictDetector
from paramedic.ingest.contract import Entity, Window
from paramedic.ingest.synthetic.configuration import ClusterConfig, Shape, Work
from paramedic.ingest.synthetic.episodes.living import live
from paramedic.ingest.synthetic.episodes.plan import EpisodePlan, Split
from paramedic.ingest.synthetic.faults.plan import FaultPlan
from paramedic.models.detection import Alarm, FaultyMachineDetector
from paramedic.models.history import JobHistory
from paramedic.models.minder.fitting import FitSettings as MinderFit
from paramedic.models.minder.rows import minders
from paramedic.models.pattern.detector import pattern_detectors
from paramedic.models.rivals.floors import floors
from paramedic.models.training.fit_settings import FitSettings

pytestmark = [
    pytest.mark.long,  # trains every detector, on little
    pytest.mark.filterwarnings("ignore::FutureWarning"),  # of Lightning about torch
    pytest.mark.filterwarnings("ignore::UserWarning:pytorch_lightning"),
    pytest.mark.timeout(600),
]
SECONDS = 420
FIRST = 60
CUTS = (150, 263, 331)
OFTEN = {
    "paramedic", "paramedic_scores", "minder_every_second", "minder_raw", "peer_cusum",
    "mahalanobis", "random",
}  # fmt: skip
"""One of each kind goes through `make test`, all others through `make soak`."""
every_one = pytest.mark.parametrize(
    "name",
    [
        pytest.param(one.name, marks=[] if one.name in OFTEN else [pytest.mark.soak])
        for one in every_detector()
        if not is_disturbed(one.name)  # the product once more
    ],
)


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    """Beside other tests, threads of one computation wait for each other more than they help."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@cache
def lived(seed: int, nodes: int = 6, is_faulty: bool = False) -> JobHistory:
    """Seven minutes of a small job; the third node's work slows down after four."""
    fault = FaultPlan("tensor_loss", f"node-{3:04d}", 0, onset=FIRST + 240, strength=0.8)  # type: ignore[arg-type]
    cluster = ClusterConfig(
        seed=seed,
        shape=Shape(nodes=nodes, gpus=2, pipeline_stages=1, nodes_per_switch=2),
        work=Work(starting_seconds=10.0, warm_up_steps=2),
        faults=(fault,) if is_faulty else (),
    )
    one = live(EpisodePlan(f"contract-{seed}", Split.TRAIN, cluster, FIRST, SECONDS))
    return JobHistory(cluster.job, one.windows, one.description, one.events)


@cache
def trained(name: str) -> FaultyMachineDetector:
    detector = new(name)
    detector.train([lived(1), lived(2), lived(3, is_faulty=True)])
    return detector


def new(name: str) -> FaultyMachineDetector:
    ours = pattern_detectors(fit_settings=FitSettings(windows=600, most_epochs=1))
    others: tuple[FaultyMachineDetector, ...] = (*minders(MinderFit(epochs=1)), *floors())
    everybody: list[FaultyMachineDetector] = [VerdictDetector(), *ours, *others]
    return next(one for one in everybody if one.name == name)


def told(detector: FaultyMachineDetector, history: JobHistory) -> dict[float, list[Alarm]]:
    """The alarms at some thresholds, among them the most and the least suspicious."""
    examination = detector.examine(history)
    thresholds = list(detector.thresholds)
    some = {thresholds[0], thresholds[len(thresholds) // 2], thresholds[-1]}
    return {one: list(examination.alarms(one)) for one in sorted(some)}


def faulty() -> JobHistory:
    return lived(4, is_faulty=True)


@every_one
def test_a_history_that_is_cut_gives_the_same_alarms_up_to_there(name: str) -> None:
    detector, whole = trained(name), told(trained(name), faulty())
    for cut in CUTS:
        last = faulty().seconds[cut]
        cut_short = told(detector, faulty().until(last))
        for threshold, alarms in whole.items():
            known = [one for one in alarms if one.second <= last]
            assert who(cut_short[threshold]) == who(known), (threshold, cut)


def who(alarms: Sequence[Alarm]) -> list[tuple[int, tuple[str, ...], int | None, str | None]]:
    return [(one.second, one.nodes, one.gpu, one.family) for one in alarms]


@every_one
def test_the_same_history_gives_the_same_alarms_whatever_came_between(name: str) -> None:
    first = told(trained(name), faulty())
    told(trained(name), lived(5))
    assert told(trained(name), faulty()) == first


@every_one
def test_it_travels_to_another_process_before_and_after_training(name: str) -> None:
    assert pickle.loads(pickle.dumps(new(name))).name == name
    there = pickle.loads(pickle.dumps(trained(name)))
    assert told(there, faulty()) == told(trained(name), faulty())


@every_one
def test_alarms_are_in_order_and_name_machines_of_the_job_within_its_time(name: str) -> None:
    history = faulty()
    for threshold, alarms in told(trained(name), history).items():
        seconds = [one.second for one in alarms]
        assert seconds == sorted(seconds), threshold
        for alarm in alarms:
            assert alarm.second in history.seconds
            assert set(alarm.nodes) <= set(history.nodes)
            assert list(alarm.nodes) == sorted(set(alarm.nodes)) != []
            assert np.isfinite(alarm.score)


@every_one
def test_thresholds_begin_with_the_most_suspicious(name: str) -> None:
    thresholds = list(new(name).thresholds)
    assert thresholds == sorted(set(thresholds)) != []


@every_one
def test_metrics_that_are_missing_are_no_obstacle(name: str) -> None:
    def half(window: Window) -> Window:
        kept = [at for at in range(len(window.metrics)) if at % 2]
        return replace(
            window,
            metrics=tuple(window.metrics[at] for at in kept),
            values=window.values[:, kept],
            observed=window.observed[:, kept],
        )

    history = faulty()
    windows = {entity: half(window) for entity, window in history.windows.items()}
    assert told(trained(name), replace(history, windows=windows)) is not None


@every_one
@pytest.mark.parametrize("entity", Entity)
def test_a_kind_of_rows_that_is_missing_is_no_obstacle(name: str, entity: Entity) -> None:
    history = faulty()
    rest = {one: window for one, window in history.windows.items() if one is not entity}
    assert told(trained(name), replace(history, windows=rest)) is not None


@every_one
def test_roles_and_events_that_are_not_known_are_no_obstacle(name: str) -> None:
    assert told(trained(name), replace(faulty(), description=None, events=())) is not None


@every_one
def test_two_nodes_are_no_obstacle(name: str) -> None:
    assert told(trained(name), lived(6, nodes=2)) is not None


@every_one
def test_a_job_of_which_nothing_is_seen_accuses_nobody_by_its_values(name: str) -> None:
    blind = {
        entity: replace(
            window,
            values=np.full_like(window.values, np.nan),
            observed=np.zeros_like(window.observed),
        )
        for entity, window in lived(6, nodes=2).windows.items()
    }
    assert told(trained(name), replace(lived(6, nodes=2), windows=blind)) is not None


@every_one
def test_an_empty_history_accuses_nobody(name: str) -> None:
    empty = JobHistory(faulty().job, {})
    assert all(alarms == [] for alarms in told(trained(name), empty).values())
    before = faulty().until(faulty().seconds[0] - 1)
    assert all(alarms == [] for alarms in told(trained(name), before).values())
