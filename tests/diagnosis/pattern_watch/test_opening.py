"""Real models are made ready late, and refused in words where they cannot be."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from diagnosis.pattern_watch.makings import served
from models.registry.models_of_ours import AT, artifact_of, manifest_of
from paramedic.diagnosis.pattern_watch.errors import UnusableModelError
from paramedic.diagnosis.pattern_watch.opening import access_to
from paramedic.models.registry.following import Adopted, ProductionFollower
from paramedic.models.registry.registry import Registry

_WITHOUT = """
import sys
from pathlib import Path
from paramedic.api.settings.schema import Settings
from paramedic.api.wiring.pattern_watch import pattern_watch
from paramedic.diagnosis.pattern_watch.errors import MissingPackagesError
from paramedic.diagnosis.pattern_watch.opening import access_to
with pattern_watch(Settings(), Path()) as watch:
    watch.follow("job")
print([one for one in ("torch", "safetensors", "prometheus_client") if one in sys.modules])
sys.modules["safetensors"] = None
try:
    access_to(Path()).source()
except MissingPackagesError as error:
    print(error)
class Broken:
    def find_spec(self, name, path=None, target=None):
        if name == "safetensors":
            raise OSError("libgomp.so.1: cannot open shared object file")
del sys.modules["safetensors"]
sys.meta_path.insert(0, Broken())
try:
    access_to(Path()).source()
except MissingPackagesError as error:
    print(error)
"""


def test_a_model_whose_settings_are_of_another_kind_is_refused_in_words() -> None:
    with pytest.raises(UnusableModelError, match=r"KeyError\('lines'\): use the release that"):
        access_to(None).open_model(served(1))


@pytest.mark.parametrize(
    "settings", [{"patch_slots": 0}, {"paces": ""}, {"paces": "fast"}, {"hidden": "many"}]
)
def test_settings_that_no_model_can_have_are_refused_and_not_an_error(
    settings: dict[str, int | str],
) -> None:
    model = served(1)
    artifact = replace(
        model.artifact, settings={**model.artifact.settings, "lines": "", **settings}
    )
    with pytest.raises(UnusableModelError, match="use the release that trained the model"):
        access_to(None).open_model(replace(model, artifact=artifact))


def test_what_is_in_production_is_followed_and_what_ships_is_not_a_registry(
    tmp_path: Path,
) -> None:
    registry = Registry(tmp_path)
    registry.add(artifact_of(), manifest_of(), AT)
    registry.promote(1, AT)
    (change,) = access_to(tmp_path).source().look(0.0)
    assert isinstance(change, Adopted)
    assert change.model.version == 1
    shipped = access_to(None).source()
    assert isinstance(shipped, ProductionFollower)
    assert not shipped._registry.record_file.exists()


def test_nothing_heavy_is_loaded_before_a_window_is_full_and_what_lacks_is_named() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT], capture_output=True, text=True, check=True
    )
    loaded, missing, broken = done.stdout.splitlines()
    assert loaded == "[]"
    assert missing.startswith("safetensors is not installed: pip install 'paramedic[models]', or ")
    assert broken.startswith(
        "a package of the extra `models` cannot be loaded (libgomp.so.1: cannot open shared object"
    )
    assert done.stderr == ""
