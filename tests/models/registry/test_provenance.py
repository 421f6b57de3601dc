"""What a model was trained on is named so that it can be recognised."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from paramedic.ingest.contract import Entity, EntityKey, JobName, NodeName, Window
from paramedic.models.history import JobHistory
from paramedic.models.registry.provenance import catalogue_version, code_version, trained_on


def history(value: float = 1.0, first: int = 1_800_000_000, width: int = 1) -> JobHistory:
    """Two nodes, one metric, five slots, one hole."""
    values = np.full((2, 1, 5), value, np.float32)
    observed = np.ones(values.shape, bool)
    observed[1, 0, 3] = False
    rows = tuple(EntityKey(Entity.NODE, NodeName(name)) for name in ("a", "b"))
    window = Window(
        JobName("j"), 0, Entity.NODE, first, rows, ("load_average",), values, observed, width
    )
    return JobHistory(JobName("j"), {Entity.NODE: window})


def test_a_history_is_named_with_its_span() -> None:
    told = trained_on("recordings/a", history(width=5))
    assert (told.name, told.first_second, told.seconds) == ("recordings/a", 1_800_000_000, 25)


def test_the_same_telemetry_has_the_same_hash_whatever_lies_in_its_holes() -> None:
    one, other = history(), history()
    other.windows[Entity.NODE].values[1, 0, 3] = np.nan
    assert trained_on("a", one).sha256 == trained_on("b", other).sha256


@pytest.mark.parametrize(
    "other", [history(2.0), history(first=1_800_000_001), history(width=2),
              replace(history(), job=JobName("k"))],
)  # fmt: skip
def test_other_telemetry_has_another_hash(other: JobHistory) -> None:
    assert trained_on("a", history()).sha256 != trained_on("a", other).sha256


def test_a_history_of_nothing_can_be_named() -> None:
    assert trained_on("a", JobHistory(JobName("j"), {})).seconds == 0


def test_code_and_catalogue_have_a_version() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", code_version())
    assert re.fullmatch(r"[0-9a-f]{12}", catalogue_version())
