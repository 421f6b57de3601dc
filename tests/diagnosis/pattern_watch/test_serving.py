"""Which model is in use: late, never a broken one, and told in a line."""

from __future__ import annotations

import logging

import pytest

from diagnosis.pattern_watch.makings import Access, nothing_ships
from paramedic.diagnosis.pattern_watch.errors import MissingPackagesError
from paramedic.diagnosis.pattern_watch.serving import ModelAccess, ServedModels
from paramedic.models.registry.following import Refused


def used(models: ServedModels) -> int | None:
    assert models.current is not None
    return models.current.model.version


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records]


def test_what_is_promoted_takes_the_place_of_what_ships(caplog: pytest.LogCaptureFixture) -> None:
    access = Access()
    models = ServedModels(access.access())
    versions = []
    with caplog.at_level(logging.INFO):
        for now, version in enumerate((None, 1, 4)):
            access.promote(version)
            models.look(now)
            versions.append(used(models))
        models.look(3)
    assert versions == [None, 1, 4]
    assert lines(caplog) == [
        f"patterns are scored with small, {title}"
        for title in ("as it ships", "version 1", "version 4")
    ]


def test_a_tampered_version_is_refused_with_a_line_and_the_old_one_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    access = Access()
    models = ServedModels(access.access())
    access.promote(3)
    models.look(0)
    access.changes.append(Refused("model.safetensors: its SHA-256 is another"))
    models.look(1)
    assert (used(models), models.refused) == (3, 1)
    assert lines(caplog)[-1] == (
        "a pattern model is refused (in use is small, version 3): "
        "model.safetensors: its SHA-256 is another"
    )


def test_a_version_that_contradicts_itself_is_refused_too(caplog: pytest.LogCaptureFixture) -> None:
    access = Access(unusable={4})
    models = ServedModels(access.access())
    for version in (3, 4):
        access.promote(version)
    models.look(0)
    assert (used(models), models.refused) == (3, 1)
    assert "small, version 4: weights do not fit" in lines(caplog)[-1]


def test_where_there_is_no_model_a_line_says_so_once_and_it_is_tried_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    access = Access()
    models = ServedModels(access.access())
    for now in range(16):
        access.changes = [nothing_ships()]
        models.look(now)
    assert access.looks == 4
    assert lines(caplog) == [
        "no pattern is scored yet, verdicts go on without: version 1 is damaged; nothing ships"
    ]
    access.changes = []
    access.promote(2)
    models.look(120)
    assert used(models) == 2


@pytest.mark.parametrize("where", ["source", "opening"])
def test_packages_that_are_not_installed_are_one_line_and_the_end_of_it(
    caplog: pytest.LogCaptureFixture, where: str
) -> None:
    def missing(*_: object) -> object:
        raise MissingPackagesError("torch is not installed: pip install 'paramedic[models]'")

    access = Access()
    access.promote(1)
    whole = access.access()
    models = ServedModels(
        ModelAccess(missing, whole.open_model)  # type: ignore[arg-type]
        if where == "source"
        else ModelAccess(whole.source, missing)  # type: ignore[arg-type]
    )
    for now in range(3):
        models.look(now)
    assert (models.is_over, models.current) == (True, None)
    (line,) = lines(caplog)
    assert line.startswith("no pattern is scored, verdicts go on without: torch is not installed")
