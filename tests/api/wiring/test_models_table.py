"""Trained models as people read them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from models.registry.models_of_ours import AT, manifest_of
from paramedic.api.wiring.models_table import lines_of_list, lines_of_model
from paramedic.models.registry.manifest import TrainedOn
from paramedic.models.registry.stages import Stage, StageChange

ROW = {"version": 1, "stage": "production", "name": "ours", "created": AT, "metrics": 17,
       "recordings": 3, "scores": {"f1": 0.912345, "episodes": 40}}  # fmt: skip


def test_columns_are_as_wide_as_what_stands_in_them() -> None:
    heading, row, other = lines_of_list([ROW, {**ROW, "version": 12}], Path("r"))
    assert heading.index("stage") == row.index("production") == other.index("production")
    assert row.endswith("episodes=40 f1=0.9123")
    assert other.startswith("12 ")


def test_a_damaged_version_leaves_its_cells_empty_and_says_what_is_wrong() -> None:
    damaged = {"version": 2, "stage": "candidate", "damaged": "x: its hash is wrong"}
    lines = list(lines_of_list([ROW, damaged], Path("r")))
    assert lines[2].split() == ["2", "candidate"]
    assert lines[3] == "damaged: x: its hash is wrong"


def test_a_model_outside_of_a_registry_says_so() -> None:
    lines = list(lines_of_model(replace(manifest_of(), scores={})))
    assert lines[0] == f"small, in no registry, made {AT}"
    assert lines[1] == "release 0.1.0, catalogue 0123456789ab"
    assert "scores: none" in lines


def test_of_the_scores_of_a_training_a_line_has_the_headlines_and_a_model_all() -> None:
    scores = {"windows_calibrated": 240_000, "labelled_f1": 0.75, "held_out_loss_nats": -0.51234}
    _, row = lines_of_list([{**ROW, "scores": scores}], Path("r"))
    assert row.endswith("3           held_out_loss_nats=-0.5123 labelled_f1=0.75")
    lines = list(lines_of_model(replace(manifest_of(), scores=scores)))
    at = lines.index("held_out_loss_nats: -0.5123")
    assert lines[at + 1 : at + 3] == ["labelled_f1: 0.75", "windows_calibrated: 240000"]


def test_long_lists_are_cut_short() -> None:
    many = replace(
        manifest_of(),
        metrics=tuple(f"metric_{at:02d}" for at in range(20)),
        settings={"lines": "word " * 100, "hidden": 16},
    )
    lines = list(lines_of_model(many))
    assert lines[3].startswith("20 metrics: metric_00, ")
    assert lines[3].endswith(" and 12 more")
    assert lines[4].startswith("settings: hidden=16 lines=word ")
    assert len(lines[4]) < 80
    whole = list(lines_of_model(many, is_whole=True))
    assert whole[3].endswith(" metric_19")
    assert whole[4] == f"settings: hidden=16 lines={'word ' * 100}"


def test_many_recordings_and_settings_are_a_line_each_unless_all_are_asked_for() -> None:
    seen = tuple(TrainedOn(f"r{at}", 0, 10, "0123") for at in range(9))
    many = replace(manifest_of(), trained_on=seen, settings={f"s{at}": at for at in range(9)})
    lines, whole = list(lines_of_model(many)), list(lines_of_model(many, is_whole=True))
    assert "trained on 9 recordings, 90 s: r0, r1, r2 and 6 more (--all lists them)" in lines
    assert next(one for one in lines if "settings" in one).startswith("9 settings: s0=0 s1=1 ")
    assert [one.partition(":")[0] for one in whole if "trained on" in one] == [
        f"trained on r{at}" for at in range(9)
    ]
    assert any(one.endswith(" s8=8") for one in whole)


def test_every_stage_has_its_time_and_reason() -> None:
    stages = (StageChange("t0", Stage.CANDIDATE), StageChange("t1", Stage.PRODUCTION, "better"))
    lines = list(lines_of_model(replace(manifest_of(), stages=stages)))
    assert lines[-2:] == ["t0  candidate", "t1  production  better"]
