"""Puts pattern scoring beside a diagnosis process, as its settings say."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from paramedic.api.settings.schema import Settings
    from paramedic.diagnosis.pattern_watch.watch import PatternWatch

_OFF, _SHIPPED = "off", "shipped"


@contextmanager
def pattern_watch(settings: Settings, folder: Path) -> Iterator[PatternWatch | None]:
    """Score in a thread of its own until this ends; None where scoring is off.

    Neither torch nor a model is loaded before a job's window is full.
    """
    models = settings.models
    if models.scoring == _OFF:
        yield None
        return
    from paramedic.diagnosis.pattern_watch.beside import scoring_beside
    from paramedic.diagnosis.pattern_watch.opening import access_to
    from paramedic.diagnosis.pattern_watch.watch import PatternWatch, PatternWatchConfig

    registry = None if models.scoring == _SHIPPED else folder / models.registry_folder
    config = PatternWatchConfig(budget_ratio=models.scoring_budget_ratio)
    watch = PatternWatch(config, access_to(registry), time.monotonic)
    with scoring_beside(watch):
        yield watch
