"""A checkpoint counts only when all of it is on the disk."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from pathlib import Path

import pytest
import torch

from paramedic.remediation.trainer.checkpoint_files import CheckpointFolder, write_durably
from paramedic.remediation.trainer.state_encoding import encode_state


def save(folder: CheckpointFolder, step: int) -> None:
    folder.save(step, encode_state({"step": step, "weights": torch.full((100,), float(step))}))


def newest_step(folder: CheckpointFolder) -> int | None:
    loaded, _ = folder.load_newest()
    return None if loaded is None else loaded.step


def names(path: Path) -> list[str]:
    return sorted(one.name for one in path.iterdir())


def test_a_checkpoint_comes_back(tmp_path: Path) -> None:
    folder = CheckpointFolder(tmp_path / "new" / "folder")
    save(folder, 12)
    loaded, rejected = folder.load_newest()
    assert loaded is not None
    assert (loaded.step, rejected) == (12, ())
    assert loaded.state["weights"].tolist() == [12.0] * 100


def test_an_empty_or_missing_folder_holds_nothing(tmp_path: Path) -> None:
    assert newest_step(CheckpointFolder(tmp_path)) is None
    assert newest_step(CheckpointFolder(tmp_path / "missing")) is None


def test_the_newest_two_are_kept(tmp_path: Path) -> None:
    folder = CheckpointFolder(tmp_path)
    for step in (5, 90, 100, 1000):
        save(folder, step)
    assert newest_step(folder) == 1000
    assert [name for name in names(tmp_path) if name.endswith(".json")] == [
        "step-000000000100.json",
        "step-000000001000.json",
    ]
    assert len(names(tmp_path)) == 4


def damage_flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def damage_cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


@pytest.mark.parametrize("suffix", ["state", "json"])
@pytest.mark.parametrize("damage", [damage_flip, damage_cut, Path.unlink])
def test_a_damaged_checkpoint_gives_way_to_the_older_one(
    tmp_path: Path, suffix: str, damage: object
) -> None:
    folder = CheckpointFolder(tmp_path)
    save(folder, 1)
    save(folder, 2)
    damage(tmp_path / f"step-000000000002.{suffix}")  # type: ignore[operator]
    assert newest_step(folder) == 1


def test_the_reason_for_passing_over_a_checkpoint_names_the_file(tmp_path: Path) -> None:
    folder = CheckpointFolder(tmp_path)
    save(folder, 2)
    damage_flip(tmp_path / "step-000000000002.state")
    _, (error,) = folder.load_newest()
    assert "step-000000000002.state has SHA-256" in str(error)


def test_a_full_disk_leaves_the_older_checkpoints_as_they_are(tmp_path: Path) -> None:
    save(CheckpointFolder(tmp_path), 1)
    before = names(tmp_path)

    def full(path: Path, chunks: Iterable[bytes]) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    with pytest.raises(OSError, match="No space left"):
        save(CheckpointFolder(tmp_path, write=full), 2)
    assert names(tmp_path) == before


def test_a_write_that_fails_half_way_leaves_no_file(tmp_path: Path) -> None:
    def chunks() -> Iterable[bytes]:
        yield b"half"
        raise OSError(errno.EIO, "Input/output error")

    with pytest.raises(OSError, match="Input/output"):
        write_durably(tmp_path / "file", chunks())
    assert names(tmp_path) == []


def test_a_process_that_dies_before_the_manifest_leaves_the_older_one_in_charge(
    tmp_path: Path,
) -> None:
    folder = CheckpointFolder(tmp_path)
    save(folder, 1)
    write_durably(tmp_path / "step-000000000002.state", encode_state({"step": 2}).chunks())
    assert newest_step(folder) == 1
