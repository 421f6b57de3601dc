"""Settings of what is made of past verdicts; each with its reason."""

from __future__ import annotations

from dataclasses import dataclass

SECONDS_PER_WEEK = 7 * 86_400.0


@dataclass(frozen=True, slots=True)
class HistorySettings:
    """When a node fails abnormally often."""

    window_seconds: float = SECONDS_PER_WEEK
    """So far back failures count."""
    incident_seconds: float = 600.0
    """Verdicts about a node within so long after the first of them are one failure: a fault is told
    again as it gets worse, and once more as its job comes back."""
    least_failures: int = 3
    """Fewer failures of a node never say anything about it."""
    false_alarms_per_week: float = 0.01
    """So many nodes of a whole fleet are wrongly named in a week, in the mean."""
    bad_nodes_per_week: float = 0.2
    """So many nodes really go bad in one; with the rate above it gives the confidence."""
    unevenness: float = 0.5
    """By how much the failure rates of sound nodes differ (their standard deviation as a share of
    the mean): some work harder, some are older, and none of that is a defect."""
    foreign_delay_seconds: float = 60.0
    """What is told of other jobs counts so much later, so that in whatever order messages of
    different jobs arrive the same is known."""
    use_prior: bool = False
    """Whether a node's past moves the confidence of new verdicts about it."""

    @property
    def weeks(self) -> float:
        """How long the window is."""
        return self.window_seconds / SECONDS_PER_WEEK

    def __post_init__(self) -> None:
        if not 0 < self.incident_seconds < self.window_seconds:
            raise ValueError(
                f"incident_seconds ({self.incident_seconds:g}) must lie between 0 and"
                f" window_seconds ({self.window_seconds:g})"
            )
        if self.least_failures < 2:  # the newest failure is what makes us look: it says nothing
            raise ValueError(f"least_failures must be at least 2, not {self.least_failures}")
        for name in ("false_alarms_per_week", "bad_nodes_per_week", "unevenness"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be above 0, not {getattr(self, name):g}")
