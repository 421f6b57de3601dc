"""A running process follows production: cheaply, and never onto something broken."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.registry.models_of_ours import AT, artifact_of, manifest_of
from paramedic.models.pattern.artifact import PatternArtifact
from paramedic.models.registry.following import Adopted, ProductionFollower, Refused
from paramedic.models.registry.manifest import Manifest
from paramedic.models.registry.registry import Registry


def shipped() -> tuple[PatternArtifact, Manifest]:
    return artifact_of(99), manifest_of("default")


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    registry = Registry(tmp_path / "registry")
    for seed in range(3):
        registry.add(artifact_of(seed), manifest_of(f"model-{seed}"), AT)
    return registry


def adopted(follower: ProductionFollower, now: float) -> list[int | None]:
    """The versions that a look brings."""
    return [one.model.version for one in follower.look(now) if isinstance(one, Adopted)]


def broken(registry: Registry, version: int) -> bytes:
    """Damage a version; what it held before."""
    tensors = registry.folder_of(version) / "model.safetensors"
    before = tensors.read_bytes()
    tensors.write_bytes(b"x")
    return before


def test_without_a_registry_the_shipped_model_is_in_use(tmp_path: Path) -> None:
    follower = ProductionFollower(Registry(tmp_path / "none"), shipped)
    (used,) = follower.look(0)
    assert isinstance(used, Adopted)
    assert used.model is follower.model
    assert used.model.title == "default, as it ships"
    assert adopted(follower, 5) == []


def test_a_promoted_version_is_adopted_at_the_next_look(registry: Registry) -> None:
    follower = ProductionFollower(registry, shipped)
    assert adopted(follower, 0) == [None]
    registry.promote(2, AT)
    assert adopted(follower, 1) == [2]
    assert follower.model is not None
    assert follower.model.title == "model-1, version 2"
    assert follower.model.artifact.digest() == artifact_of(1).digest()


def test_rolling_back_is_followed_to_the_shipped_model_at_last(registry: Registry) -> None:
    follower = ProductionFollower(registry, shipped)
    registry.promote(1, AT)
    registry.promote(2, AT)
    seen = adopted(follower, 0)
    for now in (1, 2):
        registry.roll_back(AT)
        seen += adopted(follower, now)
    assert seen == [2, 1, None]


def test_the_registry_is_asked_once_a_second_at_most(registry: Registry) -> None:
    follower = ProductionFollower(registry, shipped)
    follower.look(10.0)
    registry.promote(1, AT)
    assert adopted(follower, 10.9) == []
    assert adopted(follower, 11.0) == [1]


def test_what_is_added_and_not_promoted_changes_nothing(registry: Registry) -> None:
    follower = ProductionFollower(registry, shipped)
    follower.look(0)
    registry.add(artifact_of(7), manifest_of(), AT)
    assert follower.look(1) == ()


def test_a_broken_promotion_leaves_the_old_one_in_use_and_is_told_once(registry: Registry) -> None:
    registry.promote(1, AT)
    follower = ProductionFollower(registry, shipped)
    follower.look(0)
    registry.promote(2, AT)
    broken(registry, 2)
    (refused,) = follower.look(1)
    assert isinstance(refused, Refused)
    assert "model.safetensors: its SHA-256 is " in refused.why
    assert follower.model is not None
    assert follower.model.version == 1
    assert [change for now in range(2, 90) for change in follower.look(now)] == []


def test_a_broken_version_that_is_mended_is_adopted_without_another_promotion(
    registry: Registry,
) -> None:
    follower = ProductionFollower(registry, shipped)
    follower.look(0)
    registry.promote(2, AT)
    before = broken(registry, 2)
    follower.look(1)
    (registry.folder_of(2) / "model.safetensors").write_bytes(before)
    assert adopted(follower, 30) == []
    assert adopted(follower, 31) == [2]


def test_after_a_broken_promotion_a_good_one_is_adopted(registry: Registry) -> None:
    follower = ProductionFollower(registry, shipped)
    follower.look(0)
    registry.promote(2, AT)
    broken(registry, 2)
    follower.look(1)
    registry.promote(3, AT)
    assert adopted(follower, 2) == [3]


def test_a_start_on_a_broken_version_says_so_and_uses_the_shipped_model(
    registry: Registry,
) -> None:
    registry.promote(1, AT)
    broken(registry, 1)
    refused, used = ProductionFollower(registry, shipped).look(0)
    assert isinstance(refused, Refused)
    assert isinstance(used, Adopted)
    assert used.model.version is None


@pytest.mark.parametrize("damage", ["gone", "half"])
def test_a_record_that_goes_away_or_is_damaged_takes_no_model_out_of_use(
    registry: Registry, damage: str
) -> None:
    registry.promote(1, AT)
    follower = ProductionFollower(registry, shipped)
    follower.look(0)
    whole = registry.record_file.read_bytes()
    registry.record_file.unlink()
    if damage == "half":
        registry.record_file.write_bytes(whole[:40])
    (refused,) = follower.look(1)
    assert isinstance(refused, Refused)
    assert "record.json" in refused.why
    assert follower.model is not None
    assert follower.model.version == 1
    registry.record_file.unlink(missing_ok=True)
    registry.record_file.write_bytes(whole)
    assert [change for now in range(2, 40) for change in follower.look(now)] == []


STEPS = st.lists(st.sampled_from(["1", "2", "3", "back", "look", "break 2"]), max_size=8)


@settings(max_examples=8)
@given(STEPS)
def test_at_the_end_what_is_in_production_is_in_use_if_it_can_be(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str]
) -> None:
    registry = Registry(tmp_path_factory.mktemp("registry"))
    for seed in range(3):
        registry.add(artifact_of(seed), manifest_of(), AT)
    follower, now, is_broken = ProductionFollower(registry, shipped), 0.0, False
    follower.look(now)
    for step in steps:
        now += 1
        record = registry.record()
        if step == "look":
            follower.look(now)
        elif step == "break 2":
            broken(registry, 2)
            is_broken = True
        elif is_broken and 2 in (record.previous, int(step) if step.isdecimal() else None):
            continue  # the registry refuses what is broken: other tests have that
        elif step == "back" and record.production is not None:
            registry.roll_back(AT)
        elif step.isdecimal() and record.production != int(step):
            registry.promote(int(step), AT)
    follower.look(now + 60)
    assert follower.model is not None
    if not (is_broken and registry.production() == 2):
        assert follower.model.version == registry.production()
