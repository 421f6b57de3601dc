"""The registry as a state machine, and as a folder that several processes change at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from shutil import copytree, rmtree

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, precondition, rule

from models.registry.models_of_ours import AT, artifact_of, manifest_of
from paramedic.models.registry.errors import (
    ModelFileError,
    ModelWriteError,
    RegistryError,
    TamperedModelError,
)
from paramedic.models.registry.model_folder import save
from paramedic.models.registry.registry import Registry, number_of
from paramedic.models.registry.stages import Entry, Record, Stage, Step


class StagesMachine(RuleBasedStateMachine):
    """Any order of steps, beside the simplest thing that could be right: a list as a stack."""

    versions = Bundle("versions")

    def __init__(self) -> None:
        super().__init__()
        self.record = Record()
        self.stack: list[int] = []
        self.ever: set[int] = set()
        self.seen: list[Entry] = []

    @rule(target=versions)
    def add(self) -> int:
        number = len(self.record.versions) + 1
        self.record = self.record.added(AT, number, f"digest {number}")
        return number

    @rule(version=versions, why=st.sampled_from(["", "better"]))
    def promote(self, version: int, why: str) -> None:
        if self.stack[-1:] == [version]:
            with pytest.raises(RegistryError, match="in production already"):
                self.record.promoted(AT, version, why)
            return
        self.record = self.record.promoted(AT, version, why)
        self.stack.append(version)
        self.ever.add(version)

    @precondition(lambda self: self.stack)
    @rule()
    def roll_back(self) -> None:
        before = self.record.previous
        self.record = self.record.rolled_back(AT)
        self.stack.pop()
        assert self.record.production == before

    @precondition(lambda self: not self.stack)
    @rule()
    def nothing_can_be_rolled_back(self) -> None:
        with pytest.raises(RegistryError, match="no version is in production"):
            self.record.rolled_back(AT)

    @invariant()
    def one_at_most_is_in_production_and_it_is_the_newest_that_was_not_rolled_back(self) -> None:
        stages = {version: self.record.stage_of(version) for version in self.record.versions}
        used = [version for version, stage in stages.items() if stage is Stage.PRODUCTION]
        assert used == self.stack[-1:]
        assert self.record.production == (self.stack[-1] if self.stack else None)

    @invariant()
    def what_was_never_in_use_is_a_candidate_and_what_was_is_not(self) -> None:
        candidates = {
            one for one in self.record.versions if self.record.stage_of(one) is Stage.CANDIDATE
        }
        assert candidates == set(self.record.versions) - self.ever

    @invariant()
    def history_only_grows(self) -> None:
        assert list(self.record.entries[: len(self.seen)]) == self.seen
        self.seen = list(self.record.entries)

    @invariant()
    def every_version_begins_as_a_candidate_and_changes_its_stage_each_time(self) -> None:
        for version in self.record.versions:
            stages = [change.stage for change in self.record.history_of(version)]
            assert stages[0] is Stage.CANDIDATE
            assert all(one is not other for one, other in pairwise(stages))


TestStages = StagesMachine.TestCase
TestStages.settings = settings(max_examples=20, stateful_step_count=15, deadline=None)


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    """Three candidates."""
    registry = Registry(tmp_path / "registry")
    for seed in range(3):
        registry.add(artifact_of(seed), manifest_of(f"model-{seed}"), AT)
    return registry


def test_an_empty_registry_has_nothing_and_makes_no_folder(tmp_path: Path) -> None:
    registry = Registry(tmp_path / "none")
    assert (registry.versions(), registry.production()) == ((), None)
    assert not registry.root.exists()


def test_versions_are_numbered_and_listed_with_their_stage(registry: Registry) -> None:
    registry.promote(2, AT, "better on ours")
    listed = [(one.number, one.stage.value, one.manifest.name) for one in registry.versions()]
    assert listed == [
        (1, "candidate", "model-0"), (2, "production", "model-1"), (3, "candidate", "model-2"),
    ]  # fmt: skip
    assert registry.version(2).manifest.stages[-1].why == "better on ours"


def test_a_version_comes_back_as_it_was_added_with_its_history(registry: Registry) -> None:
    registry.promote(1, "2026-01-02T00:00:00Z")
    artifact, manifest = registry.load(1)
    assert artifact.digest() == artifact_of(0).digest()
    assert manifest.version == 1
    assert [one.stage for one in manifest.stages] == [Stage.CANDIDATE, Stage.PRODUCTION]


def test_rolling_back_goes_to_the_one_before_and_at_last_to_the_model_that_ships(
    registry: Registry,
) -> None:
    for version in (1, 3, 1):
        registry.promote(version, AT)
    assert [registry.roll_back(AT) for _ in range(3)] == [3, 1, None]
    with pytest.raises(RegistryError, match="nothing to roll back: promote one"):
        registry.roll_back(AT)


@pytest.mark.parametrize("version", [0, 4, 99])
def test_a_version_that_is_not_there_is_told_with_those_that_are(
    registry: Registry, version: int
) -> None:
    with pytest.raises(RegistryError, match=f"version {version}: .* there are: 1, 2, 3"):
        registry.promote(version, AT)


def test_a_damaged_version_is_not_promoted_and_nothing_changes(registry: Registry) -> None:
    tensors = registry.folder_of(2) / "model.safetensors"
    tensors.write_bytes(tensors.read_bytes() + b"x")
    before = registry.record_file.read_bytes()
    with pytest.raises(TamperedModelError):
        registry.promote(2, AT)
    assert registry.record_file.read_bytes() == before


def test_rolling_back_onto_a_damaged_version_is_refused(registry: Registry) -> None:
    registry.promote(1, AT)
    registry.promote(2, AT)
    (registry.folder_of(1) / "model.safetensors").write_bytes(b"x")
    with pytest.raises(TamperedModelError):
        registry.roll_back(AT)
    assert registry.production() == 2


def test_another_model_in_a_versions_place_is_refused_though_its_hashes_are_right(
    registry: Registry,
) -> None:
    rmtree(registry.folder_of(2))
    copytree(registry.folder_of(1), registry.folder_of(2))
    with pytest.raises(TamperedModelError, match="another model lies in its place"):
        registry.load(2)
    with pytest.raises(TamperedModelError):
        registry.versions()


def test_a_folder_that_a_killed_process_left_is_passed_over(registry: Registry) -> None:
    save(registry.folder_of(4), artifact_of(9), manifest_of())
    assert registry.add(artifact_of(5), manifest_of(), AT) == 5
    assert [one.number for one in registry.versions()] == [1, 2, 3, 5]


@pytest.mark.parametrize(
    "content", [b"", b"[]", b'{"schema": 2, "entries": []}', b'{"schema": 1, "entries": [{}]}']
)
def test_a_record_that_is_none_is_told_and_never_written_over(
    registry: Registry, content: bytes
) -> None:
    registry.record_file.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"record\.json: no record of a registry"):
        registry.add(artifact_of(), manifest_of(), AT)
    assert registry.record_file.read_bytes() == content


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ModelWriteError, match="the registry cannot be changed: "):
        Registry(tmp_path / "file").add(artifact_of(), manifest_of(), AT)


def test_many_add_and_promote_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    root = tmp_path / "registry"

    def add(seed: int) -> int:
        number = Registry(root).add(artifact_of(seed), manifest_of(f"model-{seed}"), AT)
        Registry(root).promote(number, AT)
        return number

    with ThreadPoolExecutor(6) as pool:
        numbers = sorted(pool.map(add, range(12)))
    record = Registry(root).record()
    assert numbers == list(range(1, 13))
    steps = [entry.step for entry in record.entries]
    assert (steps.count(Step.ADD), steps.count(Step.PROMOTE)) == (12, 12)
    stages = [one.stage for one in Registry(root).versions()]
    assert stages.count(Stage.PRODUCTION) == 1


@pytest.mark.parametrize("text", ["", "x", "-1", "1.0", "²"])
def test_a_version_that_is_no_number_is_told(text: str) -> None:
    with pytest.raises(RegistryError, match="paramedic models list"):
        number_of(text)
