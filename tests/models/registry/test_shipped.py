"""The model that ships lies beside its loader, and a build without one says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.registry.models_of_ours import artifact_of, manifest_of
from paramedic.models.default import shipped
from paramedic.models.default.shipped import FOLDER, is_shipped, shipped_model
from paramedic.models.registry.errors import ModelFileError
from paramedic.models.registry.model_folder import save


def test_the_model_lies_inside_the_package_so_that_a_wheel_takes_it_along() -> None:
    assert FOLDER.parent == Path(shipped.__file__).parent


@pytest.mark.skipif(not is_shipped(), reason="this checkout holds no model yet")
def test_the_shipped_model_is_whole_and_small() -> None:
    artifact, manifest = shipped_model()
    assert manifest.name == "default"
    assert set(artifact.metrics) <= set(artifact.fingerprint)
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < 1_000_000


def test_a_build_without_a_model_says_what_is_missing(tmp_path: Path) -> None:
    assert not is_shipped(tmp_path)
    with pytest.raises(ModelFileError, match=r"manifest\.json: No such file"):
        shipped_model(tmp_path)
    save(tmp_path / "model", artifact_of(), manifest_of())
    assert is_shipped(tmp_path / "model")
