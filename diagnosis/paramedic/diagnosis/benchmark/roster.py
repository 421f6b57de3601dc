"""Who takes part in the comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.diagnosis.benchmark.errors import UnknownDetectorError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paramedic.models.detection import FaultyMachineDetector


def every_detector() -> Sequence[FaultyMachineDetector]:
    """All of them, new and untrained, ours first."""
    from paramedic.models.pattern.detector import PatternDetector
    from paramedic.models.rivals.floors import floors

    return (PatternDetector(), *floors())


def detectors_named(names: Sequence[str] | None) -> Sequence[FaultyMachineDetector]:
    """Those of these names, in their order; all for None.

    Raises UnknownDetectorError for a name that nobody has.
    """
    known = {one.name: one for one in every_detector()}
    if names is None:
        return tuple(known.values())
    for name in names:
        if name not in known:
            raise UnknownDetectorError(f"detector {name!r}: known are {', '.join(known)}")
    return tuple(known[name] for name in dict.fromkeys(names))
