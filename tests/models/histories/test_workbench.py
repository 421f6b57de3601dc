"""What the notebooks work with: one's own recordings, or small ones that are made up."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.ingest.contract import Entity, EntityKey, JobName, NodeName, Window
from paramedic.models.histories.labelled import LabelledHistory, read_labelled
from paramedic.models.histories.labels import KnownFault, Labels
from paramedic.models.histories.plots import (
    draw_against_peers,
    draw_evidence,
    draw_f1,
    mark_faults,
)
from paramedic.models.histories.workbench import QUICK, RECORDINGS, REGISTRY, Workbench, split
from paramedic.models.history import JobHistory
from paramedic.models.pattern.artifact import PatternArtifact
from paramedic.models.registry.provenance import manifest_of_training
from paramedic.models.training.fit_settings import FitSettings


def history(job: str, nodes: int = 4) -> JobHistory:
    values = np.random.default_rng(0).normal(size=(nodes, 1, 30)).astype(np.float32)
    values[0, 0, 5] = np.nan
    rows = tuple(EntityKey(Entity.NODE, NodeName(f"n{at}")) for at in range(nodes))
    window = Window(
        JobName(job), 0, Entity.NODE, 1000, rows, ("load_average",), values, ~np.isnan(values)
    )
    return JobHistory(JobName(job), {Entity.NODE: window})


def labelled(job: str, *, broken: bool) -> LabelledHistory:
    faults = (KnownFault("ecc_error", (NodeName("n1"),), 1010),) if broken else ()
    return LabelledHistory(job, history(job), Labels(faults))


def test_ones_own_recordings_and_registry_are_used(tmp_path: Path) -> None:
    named = {RECORDINGS: "a:/b/c", REGISTRY: "models"}
    bench = Workbench.of(named, tmp_path / "scratch", tmp_path)
    assert bench.recordings() == [tmp_path / "a", Path("/b/c")]
    assert bench.registry_folder == tmp_path / "models"


def test_a_quick_run_touches_no_registry_of_ones_own(tmp_path: Path) -> None:
    bench = Workbench.of({QUICK: "1", REGISTRY: "/models"}, tmp_path, Path("/"))
    assert bench.registry_folder == tmp_path / "models"
    whole = Workbench.of({}, tmp_path, tmp_path)
    assert bench.amount.seconds < whole.amount.seconds
    assert whole.fit_settings == FitSettings()
    for name in ("windows", "windows_to_calibrate", "most_epochs"):
        assert getattr(bench.fit_settings, name) < getattr(whole.fit_settings, name)


@pytest.mark.long
def test_what_is_made_up_is_made_once_and_labelled(tmp_path: Path) -> None:
    bench = Workbench.of({QUICK: "1"}, tmp_path, tmp_path)
    made = bench.recordings()
    assert bench.recordings() == made
    assert [len(read_labelled(one)[0].faults) for one in made] == [0, 0, 1, 1, 1, 1]
    validation, test = split(bench.labelled())
    assert len(validation) == len(test) == 3


@given(jobs=st.lists(st.tuples(st.sampled_from("abcdef"), st.booleans()), max_size=20))
def test_whatever_is_split_nothing_is_lost_and_no_job_is_on_both_sides(
    jobs: list[tuple[str, bool]],
) -> None:
    every = [labelled(job, broken=broken) for job, broken in jobs]
    validation, test = split(every)
    assert len(validation) + len(test) == len(every)
    assert {one.name for one in validation}.isdisjoint(one.name for one in test)


def test_what_is_in_production_is_used_before_anything_else(tmp_path: Path) -> None:
    bench = Workbench.of({QUICK: "1"}, tmp_path, tmp_path)
    artifact = PatternArtifact({"a": 1}, {"w": np.ones(2, np.float32)}, ("load_average",))
    now = "2026-01-01T00:00:00Z"
    version = bench.registry.add(artifact, manifest_of_training("mine", now, []), now)
    bench.registry.promote(version, now)
    assert bench.model_in_use(lambda _parts: pytest.fail("learnt")).digest() == artifact.digest()


def test_jobs_with_and_without_faults_are_on_both_sides_of_a_split() -> None:
    every = [labelled(job, broken=job < "d") for job in "aabbcddeef"]
    validation, test = split(every)
    assert len(validation) + len(test) == len(every)
    assert {one.name for one in validation}.isdisjoint(one.name for one in test)
    assert any(one.faults for one in validation)
    assert any(one.faults for one in test)


@pytest.mark.long
def test_plots_show_the_accused_its_peers_and_what_is_known() -> None:
    from matplotlib.figure import Figure

    one = labelled("a", broken=True)
    accused = one.history.windows[Entity.NODE].rows[1]
    axes = Figure().subplots(3)
    draw_against_peers(axes[0], one.history, Entity.NODE, "load_average", accused)
    mark_faults(axes[0], one.history, one.faults)
    told = [text.get_text() for text in axes[0].get_legend().get_texts()]
    assert told == ["90 % of 3 peers", "their median", "n1", "known: ecc_error"]
    draw_evidence(axes[1], one.history.nodes, one.history.seconds, np.ones((30, 4)))
    assert [text.get_text() for text in axes[1].get_yticklabels()] == ["n0", "n1", "n2", "n3"]
    draw_f1(axes[2], {"candidate": (0.9, 0.8, 0.95)})
    assert axes[2].patches[0].get_width() == pytest.approx(0.9)
