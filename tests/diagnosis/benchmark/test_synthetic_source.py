"""Episodes of the synthetic cluster as the benchmark draws them."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import cast

import pytest

from paramedic.diagnosis.benchmark.episodes import Drawn, Part
from paramedic.diagnosis.benchmark.errors import UnknownDetectorError
from paramedic.diagnosis.benchmark.guard import is_variant_of_ours
from paramedic.diagnosis.benchmark.roster import detectors_named, every_detector, is_variant
from paramedic.diagnosis.benchmark.sizes import FULL, QUICK, SIZES, Amount
from paramedic.diagnosis.benchmark.synthetic_source import SyntheticSource
from paramedic.ingest.synthetic.configuration import Shape
from paramedic.ingest.synthetic.episodes.plan import EpisodePlan

SOURCE = SyntheticSource(QUICK, 0)


def jobs(part: Part) -> set[str]:
    plans = (cast("EpisodePlan", one.plan) for one in SOURCE.draw(part))
    return {plan.cluster.job for plan in plans}


def test_no_job_and_no_name_is_in_two_parts() -> None:
    drawn = [one.name for part in Part for one in SOURCE.draw(part)]
    assert len(set(drawn)) == len(drawn)
    assert not jobs(Part.TRAIN) & jobs(Part.VALIDATION)
    assert not (jobs(Part.TRAIN) | jobs(Part.VALIDATION)) & jobs(Part.TEST)


def test_another_seed_and_another_size_are_another_draw() -> None:
    draws = [SOURCE, SyntheticSource(QUICK, 1), SyntheticSource(replace(QUICK, name="other"), 0)]
    assert len({str(one.drawn()) for one in draws}) == 3
    assert SyntheticSource(QUICK, 0).drawn() == SOURCE.drawn()


def test_a_full_run_has_what_figures_need() -> None:
    assert FULL.amounts[Part.TEST].fault_episodes >= 300
    assert FULL.amounts[Part.TEST].healthy_hours >= 200
    assert FULL.wants_proof
    assert set(SIZES) == {"quick", "full"}


def test_variants_examine_a_share_of_the_faults_and_of_the_healthy_hours() -> None:
    amounts = {**QUICK.amounts, Part.TEST: Amount(10, 1, for_variants=0.3)}
    drawn = SyntheticSource(replace(QUICK, amounts=amounts), 0).draw(Part.TEST)
    names = [one.name for one in drawn if one.is_for_variants]
    assert [name.split("-")[1] for name in names] == ["fault"] * 3 + ["healthy"]


def small(part: Part, at: int) -> Drawn:
    """One drawn episode on four small nodes, short, with its fault where it was."""
    drawn = SOURCE.draw(part)[at]
    plan = cast("EpisodePlan", drawn.plan)
    shape = Shape(nodes=4, gpus=1, nodes_per_switch=2)
    faults = tuple(
        replace(one, node=type(one.node)("node-0002"), gpu=None, onset=plan.first + 40, stop=None)
        for one in plan.cluster.faults[:1]
    )
    cluster = replace(plan.cluster, shape=shape, faults=faults)
    return replace(drawn, plan=replace(plan, cluster=cluster, seconds=80))


@pytest.mark.long
def test_facts_say_what_broke_and_the_history_does_not() -> None:
    drawn = pickle.loads(pickle.dumps(small(Part.TEST, 0)))  # as it goes to a worker process
    episode = SOURCE.live(drawn)
    (fault,) = episode.facts.faults
    assert fault.nodes == ("node-0002",)
    assert fault.onset == episode.facts.first_second + 40
    assert fault.metrics_shown is not None
    assert episode.facts.nodes == len(episode.history.nodes) == 4
    assert list(episode.history.seconds) == [episode.facts.first_second + n for n in range(80)]
    assert not hasattr(episode.history, "labels")


@pytest.mark.long  # imports what the detectors need: torch, scikit-learn
def test_detectors_are_found_by_name_in_the_order_asked_for() -> None:
    names = [one.name for one in every_detector()]
    assert len(set(names)) == len(names)
    assert {"paramedic", "paramedic_scores", "paramedic@15s", "robust_z_cusum"} <= set(names)
    assert [one.name for one in detectors_named(["max_z", "random"])] == ["max_z", "random"]
    assert [one.name for one in detectors_named(None)] == names


@pytest.mark.long
def test_a_name_says_who_is_a_variant_and_who_may_share_training() -> None:
    names = [one.name for one in every_detector()]
    ours = {name for name in names if is_variant_of_ours(name)}
    variants = {name for name in names if is_variant(name) and name.startswith("paramedic")}
    assert ours - variants == {"paramedic_scores"}
    assert {"paramedic_no_network", "paramedic@few_machines"} <= variants
    assert not is_variant("minder_every_second")
    assert is_variant("minder_raw")


@pytest.mark.long
def test_a_quick_run_leaves_variants_out_unless_they_are_named() -> None:
    quick = [one.name for one in detectors_named(None, is_quick=True)]
    assert {"paramedic", "paramedic_scores", "minder", "minder_every_second"} <= set(quick)
    assert not [name for name in quick if is_variant(name)]
    assert [one.name for one in detectors_named(["minder_raw"], is_quick=True)] == ["minder_raw"]


@pytest.mark.long  # imports what the detectors need: torch, scikit-learn
def test_a_detector_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(UnknownDetectorError, match="'gremlin': known are paramedic, "):
        detectors_named(["gremlin"])
