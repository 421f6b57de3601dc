"""Without a launcher everything stays advice."""

from __future__ import annotations

from paramedic.ingest.contract import JobName, NodeName
from paramedic.remediation.launchers.observing import ObservingLauncher
from paramedic.remediation.launchers.port import Effect, Launcher, Plan, ReplaceRank

REQUEST = ReplaceRank(JobName("j"), NodeName("a"), 0, "key", "it is slow")


def test_nothing_is_planned_done_or_known() -> None:
    launcher: Launcher = ObservingLauncher()
    assert launcher.plan(REQUEST) == Plan(())
    assert launcher.apply(REQUEST).effect is Effect.REFUSED
    assert launcher.observe(JobName("j")) == ()
    assert not launcher.capabilities.can_replace_rank
