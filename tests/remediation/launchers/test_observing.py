"""Without a launcher everything stays advice."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from paramedic.diagnosis.contract import Fault, Phase, RecommendedAction, Verdict
from paramedic.ingest.contract import JobName, NodeName
from paramedic.remediation.configuration import PolicySettings
from paramedic.remediation.contract import ActionState
from paramedic.remediation.launchers.observing import ObservingLauncher
from paramedic.remediation.launchers.port import Effect, Launcher, Plan, ReplaceRank
from paramedic.remediation.policy import Situation, decide

REQUEST = ReplaceRank(JobName("j"), NodeName("a"), 0, "key", "it is slow")


def test_nothing_is_planned_done_or_known() -> None:
    launcher: Launcher = ObservingLauncher()
    assert launcher.plan(REQUEST) == Plan(())
    assert launcher.apply(REQUEST).effect is Effect.REFUSED
    assert launcher.observe(JobName("j")) == ()
    assert not launcher.capabilities.can_replace_rank


@pytest.mark.parametrize("fault", [Fault.HANG, Fault.STRAGGLER, Fault.ECC_ERROR, Fault.UNKNOWN])
def test_whatever_a_verdict_asks_for_people_are_told_and_nothing_is_called(
    verdict_of: Callable[..., Verdict], fault: Fault
) -> None:
    launcher = ObservingLauncher()
    verdict = verdict_of(fault=fault, phase=Phase.FAILED, confidence=0.99)
    situation = Situation(
        incident="inc-1",
        launcher=launcher.name,
        capabilities=launcher.capabilities,
        history=(),
        now=verdict.detected_at,
    )
    action = decide(verdict, situation, PolicySettings(dry_run=True))
    assert action is not None
    assert (action.kind, action.state) == (RecommendedAction.NOTIFY, ActionState.SKIPPED)
    assert action.calls == ()
