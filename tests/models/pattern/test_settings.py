"""Settings survive being kept by an artifact, and contradictions fail at once."""

from __future__ import annotations

import pytest

from paramedic.models.pattern.settings import PatternSettings


def test_settings_come_back_from_what_an_artifact_keeps() -> None:
    settings = PatternSettings(paces=(2, 9), hidden=8, use_roles=False)
    assert PatternSettings.of(settings.as_mapping()) == settings


def test_what_a_newer_version_keeps_besides_is_left_out() -> None:
    assert PatternSettings.of({"hidden": 8, "colour": "red"}) == PatternSettings(hidden=8)


def test_a_window_that_is_no_number_of_patches_is_refused() -> None:
    with pytest.raises(ValueError, match="multiple of"):
        PatternSettings(window_slots=62)


@pytest.mark.parametrize("slots", [0, 12, 65])
def test_newest_slots_that_are_no_patches_of_a_window_are_refused(slots: int) -> None:
    with pytest.raises(ValueError, match="newest_slots"):
        PatternSettings(newest_slots=slots)


def test_paces_of_less_than_a_slot_are_refused() -> None:
    with pytest.raises(ValueError, match="paces"):
        PatternSettings(paces=(0, 4))


@pytest.mark.parametrize("name", ["rotation_slots", "suspect_slots", "patch_slots", "block_slots"])
def test_what_would_never_come_round_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be 1 or more"):
        PatternSettings.of({name: 0})
