"""What an open verdict waits for, and how far that is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from diagnosis.synthetic import node_name
from diagnosis.test_one_card import LOST, SLOW, told, works
from diagnosis.test_one_card import tells as tells_of_card
from paramedic.diagnosis.contract import Fault, Phase, Severity, Verdict
from paramedic.diagnosis.departures import DepartureWatch
from paramedic.diagnosis.explanation.ending import waits_for
from paramedic.diagnosis.settings import DepartureSettings, StragglerSettings
from paramedic.diagnosis.straggler import StragglerWatch

if TYPE_CHECKING:
    from paramedic.diagnosis.finding import Finding


class Watched(DepartureWatch):
    """Machines of which nothing has been suspected for a while."""

    def calm_seconds(self, node: str, slot_seconds: int) -> tuple[float | None, float]:
        return (20.0 * slot_seconds if node else None), 60.0


def ends(*findings: Finding) -> list[str]:
    *_, verdict = told(*findings)[1]
    return of(verdict)


def of(verdict: Verdict) -> list[str]:
    machines, ranks = Watched(DepartureSettings()), StragglerWatch(StragglerSettings())
    return [one.text for one in waits_for(verdict, machines, ranks, 2, 600.0)]


def test_a_machine_that_departs_waits_for_calm_and_a_slow_rank_for_healthy_slots() -> None:
    (machine,) = ends(works())
    assert machine.endswith("how the machine works for so long (40 of 60 s)")
    (rank,) = ends(SLOW)
    assert "no rank of the node has been slow" in rank


def test_each_part_of_a_verdict_about_a_card_is_over_by_itself() -> None:
    work, card = ends(works(), tells_of_card(at=120))
    assert "works" in work
    assert card == "what was told is over when its state is, or after 600 s without it"
    rank, card = ends(SLOW, tells_of_card(at=120))
    assert "slow" in rank
    assert "after 600 s" in card


@pytest.mark.parametrize(
    ("finding", "said"),
    [
        (LOST, "heard again"),
        (replace(LOST, fault=Fault.PROCESS_EXIT), "trains again"),
        (replace(LOST, fault=Fault.TELEMETRY_LOST, phase=Phase.SYMPTOM), "telemetry comes again"),
        (tells_of_card(Severity.P1, Fault.GPU_CARD_DROP), "reported again"),
        (
            replace(LOST, node=None, fault=Fault.NETWORK_GROUP, members=tuple(
                map(node_name, range(3))
            )),
            "heard of again",
        ),
    ],
)  # fmt: skip
def test_what_is_lost_waits_to_be_back(finding: Finding, said: str) -> None:
    known = replace(finding, action=works().action)
    (one,) = ends(known)
    assert said in one


def test_who_has_brought_the_job_down_waits_for_it_to_go_on() -> None:
    docket, (verdict,) = told(works())
    (subject,) = docket.open
    failed = docket.fail(subject, verdict.detected_at, verdict.detected_at, "it stands")
    assert of(failed)[0] == "while the job does nothing nobody is acquitted: it has to go on first"
