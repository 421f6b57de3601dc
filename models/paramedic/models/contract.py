"""What models produce: for every row of a window, how far it is from what it should be doing.

Standard library only at run time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection

    import numpy as np
    from numpy.typing import NDArray

    from paramedic.ingest.contract import EntityKey, Window


@dataclass(frozen=True, slots=True)
class AnomalyScores:
    """Deviations of one slot. Arrays have the shape (rows, metrics); NaN where nothing is known."""

    second: int
    rows: tuple[EntityKey, ...]
    metrics: tuple[str, ...]
    deviation: NDArray[np.float64]
    """Signed, in robust standard deviations, free of the job's size; positive: above the peers."""
    value: NDArray[np.float64]
    """What was observed, in the metric's unit."""
    peers: NDArray[np.float64]
    """What the peers did at the same time, in the metric's unit."""
    own: NDArray[np.float64] | None = None
    """What each row is taken to differ by all along, which is no deviation: a share of the peers'
    level. None where the model takes nothing for that."""


class PatternModel(Protocol):
    """Turns a window into deviations. Implementations must not depend on the number of machines."""

    name: str

    def score(
        self,
        window: Window,
        unscored: Collection[str] = (),
        own: NDArray[np.float64] | None = None,
    ) -> AnomalyScores:
        """Deviations of the newest slot of the window, judged with the whole window.

        Of the metrics that need not be scored it is wanted what was seen and what the peers did.
        `own` (rows, metrics) is what rows differ by all along; NaN where the window has to say.
        """
        ...


class ModelError(Exception):
    """Base of what can go wrong with trained models.

    ModelError
    ├── ModelFileError         the folder holds no model, or a file of it cannot be read
    │   └── TamperedModelError    stop: a file is not what its hash says
    ├── ModelWriteError        the folder cannot be written, or holds something already
    └── RegistryError          stop: there is no such version, or no such step is possible
    """
