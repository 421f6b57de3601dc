"""How far an action has come: the typed form of `Action.details`, which survives a crash."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from paramedic.ingest.contract import JobName, format_time, parse_time

if TYPE_CHECKING:
    from paramedic.remediation.contract import Action


@dataclass(frozen=True, slots=True)
class Progress:
    """What has to be known to go on with an action after any interruption."""

    job: JobName
    generation: int
    """The generation in which the fault was seen."""
    verdict: str
    planned_at: datetime
    reason: str
    attempts: int = 0
    """Calls of the launcher that were begun."""
    not_before: datetime | None = None
    """No new call earlier than this."""
    applied_at: datetime | None = None
    """When the launcher accepted; None while its answer is not known."""

    def to_details(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "job": self.job,
            "generation": self.generation,
            "verdict": self.verdict,
            "planned_at": format_time(self.planned_at),
            "reason": self.reason,
            "attempts": self.attempts,
            "not_before": _text(self.not_before),
            "applied_at": _text(self.applied_at),
        }

    @classmethod
    def of(cls, action: Action) -> Progress:
        """The inverse of `to_details`, read from an action."""
        fields = action.details
        return cls(
            job=JobName(fields["job"]),
            generation=fields["generation"],
            verdict=fields["verdict"],
            planned_at=parse_time(fields["planned_at"]),
            reason=fields["reason"],
            attempts=fields["attempts"],
            not_before=_moment(fields["not_before"]),
            applied_at=_moment(fields["applied_at"]),
        )

    def begun(self) -> Progress:
        """One more call is about to be made."""
        return replace(self, attempts=self.attempts + 1, not_before=None)

    def postponed(self, now: datetime, first_seconds: float, longest_seconds: float) -> Progress:
        """The call did not get through: wait, each time twice as long."""
        doublings = min(max(self.attempts - 1, 0), 30)
        wait_seconds = min(first_seconds * 2.0**doublings, longest_seconds)
        return replace(self, not_before=now + timedelta(seconds=wait_seconds))


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else format_time(moment)


def _moment(text: str | None) -> datetime | None:
    return None if text is None else parse_time(text)
