"""Settings of remediation; what must hold between them fails when they are made."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class PolicySettings:
    """The bars that hold for every action."""

    dry_run: bool = False
    """Show the calls and make none. Off: a job's own processes under our launcher are recovered."""
    minimum_confidence: float = 0.9
    """A verdict below it makes people look and touches nothing; 0..1."""
    replacements_per_hour: int = 3
    """Retry budget of a job; after that a person is needed."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.minimum_confidence <= 1.0:
            raise RemediationSettingError(
                f"minimum_confidence is {self.minimum_confidence}: choose one from 0 to 1"
            )
        if self.replacements_per_hour < 0:
            raise RemediationSettingError(
                f"replacements_per_hour is {self.replacements_per_hour}: choose 0 or more"
            )


@dataclass(frozen=True, slots=True)
class ControllerSettings:
    """How patiently an action is carried out."""

    first_retry_seconds: float = 0.5
    """Wait after the first unsuccessful call; doubled each time."""
    longest_retry_seconds: float = 30.0
    effect_timeout_seconds: float = 120.0
    """How long an applied action may stay without visible effect (the recovery target)."""

    def __post_init__(self) -> None:
        if not 0.0 < self.first_retry_seconds <= self.longest_retry_seconds:
            raise RemediationSettingError(
                f"first_retry_seconds is {self.first_retry_seconds}: choose more than 0 and at "
                f"most longest_retry_seconds ({self.longest_retry_seconds})"
            )
        if self.effect_timeout_seconds <= 0.0:
            raise RemediationSettingError(
                f"effect_timeout_seconds is {self.effect_timeout_seconds}: choose more than 0"
            )


@dataclass(frozen=True, slots=True)
class RemediateConfig:
    """Everything that can be set about `remediate`."""

    policy: PolicySettings = field(default_factory=PolicySettings)
    controller: ControllerSettings = field(default_factory=ControllerSettings)
    correlation_seconds: float = 60.0
    """A group's or job's verdict joins incidents whose onset is no further away."""
    poll_seconds: float = 0.2
    """Longest wait for a message before other work is looked at."""
    review_seconds: float = 1.0
    """How often open verdicts are looked at again and the ledger is brought up to now."""
    store_retry_seconds: float = 1.0
    """Wait before a message is stored again after the database did not answer."""

    def __post_init__(self) -> None:
        if not 0.0 < self.poll_seconds <= 0.2:
            raise RemediationSettingError(
                f"poll_seconds is {self.poll_seconds}: choose more than 0 and at most 0.2"
            )
        for name in ("correlation_seconds", "review_seconds", "store_retry_seconds"):
            if getattr(self, name) <= 0.0:
                raise RemediationSettingError(
                    f"{name} is {getattr(self, name)}: choose more than 0"
                )


class RemediationSettingError(ValueError):
    """A setting of remediation that cannot be used; the message names it and what to choose."""
