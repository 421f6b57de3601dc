"""A verdict explained: what is known of it, put together once for people and for scripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paramedic.ingest.contract import format_time

if TYPE_CHECKING:
    from paramedic.diagnosis.contract import Verdict
    from paramedic.diagnosis.excuses import Hold
    from paramedic.diagnosis.explanation.standing import Standing


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that is said of one verdict."""

    life: tuple[Verdict, ...]
    """Its states, the oldest first; of a verdict that was read alone, that one."""
    considered: tuple[Standing, ...] = ()
    """How all other evidence stood when it fired first: about the same machine, and about the
    other candidates. Empty where the recording was not at hand."""

    @property
    def verdict(self) -> Verdict:
        """The newest state."""
        return self.life[-1]

    @property
    def fired(self) -> Verdict:
        """The oldest state that is known."""
        return self.life[0]

    @property
    def seconds_to_decide(self) -> float:
        """From when the evidence began to the first decision."""
        decided = self.verdict.first_detected_at or self.fired.detected_at
        return (decided - self.fired.onset).total_seconds()

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "verdict": self.verdict.to_dict(),
            "seconds_to_decide": self.seconds_to_decide,
            "life": [
                {
                    "status": one.status.value,
                    "detected_at": format_time(one.detected_at),
                    "fault": one.fault.value,
                    "summary": one.summary,
                }
                for one in self.life
            ],
            "considered": standings_to_list(self.considered),
        }


def standings_to_list(standings: Sequence[Standing]) -> list[dict[str, Any]]:
    """Plain JSON values of how evidence stands."""
    return [
        {
            "node": one.subject.node,
            "entity": one.subject.entity.value,
            "index": one.subject.index,
            "tier": one.tier.value,
            "kind": one.kind,
            "evidence": one.evidence,
            "level": one.level,
            "unit": one.unit,
            "since": None if one.since is None else format_time(one.since),
            "note": one.note,
            "holds": holds_to_list(one.holds),
        }
        for one in standings
    ]


def holds_to_list(holds: Sequence[Hold]) -> list[dict[str, Any]]:
    """Plain JSON values of what keeps evidence from deciding."""
    return [
        {"why": one.why, "now": one.now, "needed": one.needed, "unit": one.unit} for one in holds
    ]
