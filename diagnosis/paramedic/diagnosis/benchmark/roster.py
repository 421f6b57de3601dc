"""Who takes part in the comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.diagnosis.benchmark.errors import UnknownDetectorError
from paramedic.diagnosis.benchmark.guard import (
    MINDER_AND_WORSE,
    OUR_SCORES,
    is_variant_of_ours,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paramedic.models.detection import FaultyMachineDetector

_ROWS_OF_MINDER = ("minder", "minder_every_second")


def every_detector(is_quick: bool = False) -> Sequence[FaultyMachineDetector]:
    """All of them, new and untrained, ours first; `is_quick`: trained on less, for a look."""
    from paramedic.diagnosis.benchmark.verdicts.detector import VerdictDetector
    from paramedic.diagnosis.benchmark.verdicts.disturbed import disturbed_detectors
    from paramedic.models.minder.fitting import FitSettings as MinderFit
    from paramedic.models.minder.rows import minders
    from paramedic.models.pattern.detector import pattern_detectors
    from paramedic.models.rivals.floors import floors
    from paramedic.models.training.fit_settings import FitSettings

    ours = (
        FitSettings(windows=8000, windows_to_calibrate=60_000, most_epochs=4)
        if is_quick
        else FitSettings()
    )
    minder = MinderFit(epochs=6) if is_quick else MinderFit()
    return (
        VerdictDetector(),
        *pattern_detectors(fit_settings=ours),
        *minders(minder),
        *floors(),
        *disturbed_detectors(),
    )


def is_variant(name: str) -> bool:
    """Whether a row is there to say what one idea of ours, or of Minder's, brings."""
    of_minder = name.startswith("minder_") and name not in _ROWS_OF_MINDER
    return (is_variant_of_ours(name) and name != OUR_SCORES) or of_minder


def examines_everything(name: str) -> bool:
    """Whether a row examines all episodes: no variant, or one of which something is promised."""
    return not is_variant(name) or name in MINDER_AND_WORSE


def detectors_named(
    names: Sequence[str] | None, is_quick: bool = False
) -> Sequence[FaultyMachineDetector]:
    """Those of these names, in their order; for None all, in a quick run without variants.

    Raises UnknownDetectorError for a name that nobody has.
    """
    known = {one.name: one for one in every_detector(is_quick)}
    if names is None:
        return [one for one in known.values() if not (is_quick and is_variant(one.name))]
    for name in names:
        if name not in known:
            raise UnknownDetectorError(f"detector {name!r}: known are {', '.join(known)}")
    return [known[name] for name in dict.fromkeys(names)]
