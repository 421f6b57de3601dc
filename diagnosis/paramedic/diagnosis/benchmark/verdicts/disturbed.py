"""The product on disturbed episodes: a row for each disturbance, held against the undisturbed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from paramedic.diagnosis.benchmark.guard import DISTURBED, OURS
from paramedic.diagnosis.benchmark.verdicts import disturbing
from paramedic.diagnosis.benchmark.verdicts.detector import VerdictDetector

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from paramedic.diagnosis.benchmark.episodes import Episode

_DISTURBANCES: Mapping[str, Callable[[Episode], Episode | None]] = {
    **{f"{one}s": partial(disturbing.at_cadence, seconds=one) for one in (5, 15, 30)},
    "no_roles": disturbing.without_roles,
    "few_samples": disturbing.with_few_samples,
    "few_metrics": disturbing.with_few_metrics,
    "stages": disturbing.with_stages,
    "few_machines": disturbing.of_few_machines,
}


@dataclass
class DisturbedDetector(VerdictDetector):
    """The product, which sees every episode disturbed in one way."""

    by: str = ""

    def disturb(self, episode: Episode) -> Episode | None:
        """The episode as it is seen; None where the disturbance means nothing to it."""
        return _DISTURBANCES[self.by](episode)


def disturbed_detectors() -> Sequence[DisturbedDetector]:
    """One for each disturbance, such as `paramedic@15s`."""
    return [DisturbedDetector(f"{OURS}{DISTURBED}{by}", by=by) for by in _DISTURBANCES]
