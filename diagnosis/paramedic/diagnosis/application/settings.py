"""When the training itself counts as unwell."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ApplicationSettings:
    """Of the job as a whole; what one machine does is judged elsewhere.

    Evidence is counted in nats; its level follows from the tolerated rate of false alarms and from
    how often the job tells something. Ratios say what matters: less is no trouble, however sure.
    """

    false_alarms_per_job_day: float = 0.01
    """Tolerated false alarms of one job in one day, all series together."""
    expected_troubles_per_job_day: float = 0.2
    """How often a training really gets unwell; with the rate above it gives the confidence."""
    least_loss_ratio: float = 1.15
    """A loss counts from so many times its usual on."""
    grave_loss_ratio: float = 1.5
    """From here on, and when it is no number, it is P1; below, P2."""
    least_gradient_ratio: float = 3.0
    """A gradient norm counts from so many times its usual on: healthy ones double now and then."""
    healthy_steps_to_resolve: int = 5
    """So many steps in a row as usual, and the training is well again."""
    least_jump_ratio: float = 2.5
    """A learning rate or a batch that changes by less at once may be a schedule's."""
    largest_planned_drop_ratio: float = 0.09
    """A learning rate that falls to more than this is a schedule's step: those go to 0.1 to 0.5."""
    jump_observations: int = 4
    """A new value has to stay for so long: ramps go on, and an epoch's last batch is alone."""
    jump_accepted_seconds: float = 600.0
    """A job that trains on for so long with its new value is as it is wanted."""
    least_stall_share: float = 0.3
    """Of a step, in the median rank: waiting for data counts from here on."""
    stall_seconds: float = 60.0
    """So long, and it is a stall (P2)."""
    grave_stall_share: float = 0.5
    """With half of the step and more, and for the time that follows, it is P1."""
    grave_stall_seconds: float = 180.0
    least_drop_share: float = 0.2
    """Throughput counts as lower than usual from here on."""
    drop_seconds: float = 600.0
    """So long, and it is a trend (P2)."""
    grave_drop_share: float = 0.5
    """With more than half of the usual lost, for the time that follows, it is P0."""
    grave_drop_seconds: float = 60.0
    """Long enough to let a machine be named whose business it is."""
    explained_seconds: float = 120.0
    """A machine that was named since so long before the drop began explains it."""
    healthy_observations_to_resolve: int = 20
    """So many in a row as usual, and data or throughput are well again."""
    settle_seconds: int = 30
    """Speeds are not judged for so long after the job began to train or a generation began."""
    pause_settle_seconds: int = 5
    """The same after a checkpoint or an evaluation."""

    def __post_init__(self) -> None:
        if self.false_alarms_per_job_day <= 0 or self.expected_troubles_per_job_day <= 0:
            raise ValueError(
                f"false_alarms_per_job_day ({self.false_alarms_per_job_day}) and"
                f" expected_troubles_per_job_day ({self.expected_troubles_per_job_day}) must be"
                " above 0"
            )
        if not 1 < self.least_loss_ratio <= self.grave_loss_ratio:
            raise ValueError(
                f"least_loss_ratio ({self.least_loss_ratio}) must lie between 1 and"
                f" grave_loss_ratio ({self.grave_loss_ratio})"
            )
        if not 0 < self.least_drop_share <= self.grave_drop_share < 1:
            raise ValueError(
                f"least_drop_share ({self.least_drop_share}) must lie between 0 and"
                f" grave_drop_share ({self.grave_drop_share}), which is below 1"
            )
        if not 0 < self.least_stall_share <= self.grave_stall_share < 1:
            raise ValueError(
                f"least_stall_share ({self.least_stall_share}) must lie between 0 and"
                f" grave_stall_share ({self.grave_stall_share}), which is below 1"
            )


class AtOnce:
    """Seconds that count from a beginning on: what is learned does not depend on a warm cache."""

    settle_seconds = 0
    pause_settle_seconds = 0


AT_ONCE = AtOnce()
