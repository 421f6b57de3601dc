"""A model folder is written all at once, read with its hashes checked, and holds no programs."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save as bytes_of

from models.registry.models_of_ours import artifact_of, manifest_of
from paramedic.models.registry.errors import ModelFileError, ModelWriteError, TamperedModelError
from paramedic.models.registry.manifest import Manifest
from paramedic.models.registry.model_folder import load, save


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save(tmp_path / "model", artifact_of(), manifest_of())
    return tmp_path / "model"


def changed(path: Path, change: Callable[[bytes], bytes]) -> None:
    path.write_bytes(change(path.read_bytes()))


def flipped(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 1])


def test_what_was_saved_comes_back(folder: Path) -> None:
    artifact, manifest = load(folder)
    assert artifact.digest() == artifact_of().digest()
    assert artifact.fingerprint == artifact_of().fingerprint
    assert (manifest.name, manifest.scores) == ("small", {"validation_loss": 0.25})
    assert manifest.trained_on == manifest_of().trained_on


def test_what_training_measured_is_kept_beside_what_was_measured_since(tmp_path: Path) -> None:
    measured = replace(artifact_of(), scores={"best_epoch": 7, "loss": 0.5, "odd": float("nan")})
    kept = save(tmp_path / "model", measured, manifest_of())
    artifact, manifest = load(tmp_path / "model")
    assert artifact.scores == manifest.scores == kept.scores
    assert kept.scores == {"best_epoch": 7, "loss": 0.5, "validation_loss": 0.25}
    assert isinstance(manifest.scores["best_epoch"], int)


def test_two_saves_of_one_model_are_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    whole = artifact_of()
    other_order = replace(whole, tensors=dict(reversed(list(whole.tensors.items()))))
    save(tmp_path / "again", other_order, manifest_of())
    for name in ("model.safetensors", "manifest.json"):
        assert (folder / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_one_flipped_bit_in_the_tensors_is_refused_by_file_and_hash(folder: Path) -> None:
    path = folder / "model.safetensors"
    said = json.loads((folder / "manifest.json").read_text())["tensors_sha256"]
    changed(path, flipped)
    with pytest.raises(TamperedModelError) as refused:
        load(folder)
    found = sha256(path.read_bytes()).hexdigest()
    assert all(word in str(refused.value) for word in (str(path), said, found))


def test_a_changed_manifest_is_refused_by_file_and_hash(folder: Path) -> None:
    changed(folder / "manifest.json", lambda text: text.replace(b"small", b"SMALL"))
    with pytest.raises(TamperedModelError, match=r"manifest\.json: its content has the SHA-256"):
        load(folder)


def test_a_manifest_without_its_hash_is_refused(folder: Path) -> None:
    told = json.loads((folder / "manifest.json").read_text())
    del told["manifest_sha256"]
    (folder / "manifest.json").write_text(json.dumps(told))
    with pytest.raises(TamperedModelError, match="says None"):
        load(folder)


@pytest.mark.parametrize("missing", ["manifest.json", "model.safetensors"])
def test_a_missing_file_is_told_with_what_a_model_is(folder: Path, missing: str) -> None:
    (folder / missing).unlink()
    with pytest.raises(ModelFileError, match=f"{missing}: No such file.*paramedic train --out"):
        load(folder)


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"{", "no JSON"), (b"[]", "list where an object"), (b'{"a": NaN}', "NaN is no number"),
     (b"\xff", "no JSON"), (b"[" * 9000, "no JSON")],
)  # fmt: skip
def test_what_is_no_manifest_is_told(folder: Path, content: bytes, words: str) -> None:
    (folder / "manifest.json").write_bytes(content)
    with pytest.raises(ModelFileError, match=words):
        load(folder)


def rehashed(content: bytes, **others: object) -> bytes:
    """A manifest with other fields, whose hash is right all the same."""
    told = {**json.loads(content), **others}
    del told["manifest_sha256"]
    canonical = json.dumps(told, sort_keys=True, separators=(",", ":")).encode()
    return json.dumps({**told, "manifest_sha256": sha256(canonical).hexdigest()}).encode()


@pytest.mark.parametrize(
    ("others", "words"),
    [({"schema": 2}, "schema is 2, and this release reads 1"), ({"metrics": "x"}, "metrics is 'x'"),
     ({"trained_on": [{}]}, "manifest.json: "), ({"stages": [{"at": "x", "stage": "y"}]}, "'y'")],
)  # fmt: skip
def test_a_manifest_of_another_shape_is_told(
    folder: Path, others: dict[str, object], words: str
) -> None:
    changed(folder / "manifest.json", lambda content: rehashed(content, **others))
    with pytest.raises(ModelFileError, match=words):
        load(folder)


def with_tensors(folder: Path, content: bytes) -> None:
    """Other tensors, and a manifest that vouches for them."""
    (folder / "model.safetensors").write_bytes(content)
    digest = sha256(content).hexdigest()
    changed(folder / "manifest.json", lambda text: rehashed(text, tensors_sha256=digest))


class Program:
    """Writes a file when it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return (Path.write_text, (self.file, "ran"))


def test_a_pickle_is_never_run_even_when_the_hashes_vouch_for_it(
    folder: Path, tmp_path: Path
) -> None:
    with_tensors(folder, pickle.dumps(Program(tmp_path / "ran")))
    (folder / "model.pkl").write_bytes(pickle.dumps(Program(tmp_path / "ran")))
    with pytest.raises(ModelFileError, match=r"model\.safetensors: no safetensors file"):
        load(folder)
    assert not (tmp_path / "ran").exists()


def test_tensors_of_another_kind_are_refused(folder: Path) -> None:
    with_tensors(folder, bytes_of({"w": np.zeros(3, np.float64)}))
    with pytest.raises(ModelFileError, match="w is float64, not float32"):
        load(folder)


def test_a_folder_that_is_there_is_not_written_over_and_nothing_is_left(folder: Path) -> None:
    before = (folder / "manifest.json").read_bytes()
    with pytest.raises(ModelWriteError, match="is there already: name another folder"):
        save(folder, artifact_of(1), manifest_of())
    assert (folder / "manifest.json").read_bytes() == before
    assert list(folder.parent.iterdir()) == [folder]


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ModelWriteError, match="the model cannot be written: "):
        save(tmp_path / "file" / "model", artifact_of(), manifest_of())


def test_a_quantile_that_is_no_number_is_left_out(tmp_path: Path) -> None:
    odd = replace(artifact_of(), fingerprint={"m": {"input_q50": float("nan"), "score_q50": 1.0}})
    kept = save(tmp_path / "model", odd, manifest_of())
    assert kept.fingerprint == {"m": {"score_q50": 1.0}}
    assert isinstance(load(tmp_path / "model")[1], Manifest)
