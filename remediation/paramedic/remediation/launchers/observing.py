"""No launcher at all: what `up` works with, where the job was started by somebody else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.remediation.launchers.port import (
    Capabilities,
    Effect,
    Outcome,
    Placement,
    Plan,
    ReplaceRank,
)

if TYPE_CHECKING:
    from paramedic.ingest.contract import JobName


class ObservingLauncher:
    """Can do nothing and knows no placements, so whatever is decided stays advice for people."""

    name = "observe_only"
    capabilities = Capabilities(
        can_replace_rank=False,
        can_resize=False,
        has_spares=False,
        can_cordon=False,
        supports_in_process=False,
    )

    def plan(self, _request: ReplaceRank) -> Plan:
        """No calls."""
        return Plan(())

    def apply(self, _request: ReplaceRank) -> Outcome:
        """Refuse."""
        return Outcome(Effect.REFUSED, "no launcher is connected: this platform only observes")

    def observe(self, _job: JobName) -> tuple[Placement, ...]:
        """Nobody."""
        return ()
