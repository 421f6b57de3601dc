"""What is known of an accused machine when its fault is named: plain data, no time, no rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


_BY_HEAT = 0x20 | 0x40
"""Thermal slowdown by software and by hardware. Of NVML's clock event reasons."""
_BY_POWER = 0x80
"""The hardware's power brake. The software's power cap (0x4) is nobody's fault: busy cards run into
it."""
TELLING_REASONS = _BY_HEAT | _BY_POWER


class Extent(StrEnum):
    """How much of the machine is concerned."""

    ONE_GPU = "one_gpu"
    SEVERAL_GPUS = "several_gpus"
    HOST = "host"
    """No GPU departs by itself: the host alone does, or nothing is known of GPUs."""


@dataclass(frozen=True, slots=True)
class Departure:
    """How one metric of the machine has departed from its peers and its own past."""

    deviation: float
    """In standard deviations of healthy noise; above zero: higher than it should be. NaN: not
    observed."""
    relative: float = math.nan
    """value / peers − 1; NaN where there is none, such as beside peers at zero."""


@dataclass(frozen=True, slots=True)
class Signature:
    """The evidence against one machine."""

    extent: Extent
    departures: Mapping[str, Departure]
    """By metric id (formats, section 1). Of several GPUs, the one that departs most. A metric that
    is not here has not been observed; ids that nobody knows are allowed and tell nothing."""
    rows_missing: bool = False
    """The node's telemetry has holes, or has ceased, while its peers' comes."""
    cards_missing: bool = False
    """A GPU that was there is there no more, while its node is; where one card is accused: that."""
    grown: frozenset[str] = frozenset()
    """Error counters (metric ids) that grew beyond what healthy machines show."""
    xids: frozenset[int] = frozenset()
    """Codes that the driver told of this machine."""
    slow_reasons: int | None = None
    """Bits of NVML's clock event reasons that have come up; None: not observed."""
    has_stopped: bool = False
    """The machine makes no progress, and the others wait for it or have given up."""
    has_exited: bool = False
    """A process of the machine has ended that nobody asked to end."""
    cards_unsteady: bool = False
    """A GPU, where one is accused that one, is heard only now and then, in seconds in which its
    sisters are heard."""

    @property
    def slowed_by_heat(self) -> bool | None:
        """Whether the driver or the board keeps a clock down because of heat; None: unknown."""
        return None if self.slow_reasons is None else bool(self.slow_reasons & _BY_HEAT)

    @property
    def slowed_by_power(self) -> bool | None:
        """Whether the board has braked for its power supply; None: unknown."""
        return None if self.slow_reasons is None else bool(self.slow_reasons & _BY_POWER)
