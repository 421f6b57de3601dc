"""An explanation in words and as data: everything of the verdict is in it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.explanation.verdict import a_verdict, at
from paramedic.diagnosis.contract import Evidence, Fault, Phase, Scope, Severity, Status, Tier
from paramedic.diagnosis.excuses import Hold
from paramedic.diagnosis.explanation.domains import ALIKE
from paramedic.diagnosis.explanation.explained import (
    Explanation,
    holds_to_list,
    standings_to_list,
)
from paramedic.diagnosis.explanation.measures import measure_of
from paramedic.diagnosis.explanation.standing import Standing
from paramedic.diagnosis.explanation.telling import lines_of_node, lines_of_verdict
from paramedic.diagnosis.explanation.words import (
    ANSWERS,
    FAULTS,
    PHASES,
    TIERS,
    fault_words,
    place_of,
    severity_words,
)
from paramedic.ingest.catalogue.catalogue import shipped_catalogue
from paramedic.ingest.contract import Entity, EntityKey, NodeName

NODE = NodeName("b")


def standing(rank: int, evidence: float | None = 4.0, note: str = "") -> Standing:
    key = EntityKey(Entity.RANK, NODE, rank)
    return Standing(key, Tier.HEARTBEAT, "heartbeat", evidence, 10.0, at(70), note, "s")


EXPLANATION = Explanation(
    (
        a_verdict(first_detected_at=at(81)),
        a_verdict(
            status=Status.RESOLVED, detected_at=at(99), summary="it works; it was: slow",
            first_detected_at=at(81),
        ),
    ),
    (standing(3), standing(4, None, "nobody to compare it with")),
)  # fmt: skip


def test_every_term_has_its_words() -> None:
    assert set(FAULTS) == set(Fault)
    assert set(PHASES) == set(Phase)
    assert set(TIERS) == set(Tier)
    assert set(ANSWERS) == set(Severity)


def test_a_straggler_that_waits_for_data_is_not_said_to_be_slow_at_its_own_work() -> None:
    for metric, words in (
        ("compute_seconds", "the rank takes longer over its own work than its peers"),
        ("dataloader_seconds", "the rank waits longer for its data than its peers"),
    ):
        slow = a_verdict(fault=Fault.STRAGGLER, evidence=(Evidence(metric, 2.0, 1.0, 9.0, at(73)),))
        assert fault_words(slow) == words
    assert fault_words(a_verdict(fault=Fault.STRAGGLER, evidence=())) == FAULTS[Fault.STRAGGLER]


def test_people_read_what_where_since_when_and_why() -> None:
    said = "\n".join(lines_of_verdict(EXPLANATION))
    for words in (
        "verdict 7Q0JT2M9ZB4N6W8XKCVFR1DH3A: P1, resolved, confidence 0.97",
        "ecc_error: the GPU's memory flips bits, or the GPU works as if it did (a symptom, nothing",
        "GPU 1 of a; job llama-7b, generation 0",
        "2026-01-01T00:01:12Z; decided 9 s later, at 2026-01-01T00:01:21Z",
        "2026-01-01T00:01:39Z  resolved: it works\n",
        "GPU tensor active: 21 %, peers 36 % (-42%), 9.8 standard deviations below them; since",
        "a  41.2  named\n  b  1.1\n",
        "████······  rank 3 of b, heartbeat: 4 of 10 s, since 00:01:10",
        "rank 4 of b, heartbeat: nothing can be said",
        "replace_node: it computes wrongly",
    ):
        assert words in said


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"severity": Severity.P0}, "the job stands or has lost half of its speed, or several"),
        ({"severity": Severity.P0, "phase": Phase.FAILED}, "the job cannot go on: somebody"),
        ({}, "one machine is failing: somebody should answer within 30 minutes"),
        ({"phase": Phase.FAILED}, "one machine has failed"),
        ({"scope": Scope.JOB, "node": None, "gpu": None}, "the training is in trouble"),
        ({"severity": Severity.P2, "scope": Scope.JOB}, "a trend"),
    ],
)
def test_a_severity_says_no_more_than_the_phase_beside_it(
    changes: dict[str, Any], words: str
) -> None:
    assert severity_words(a_verdict(**changes)).startswith(words)


def test_what_has_not_happened_is_only_said_to_look_like_it() -> None:
    early = a_verdict(fault=Fault.CUDA_EXECUTION_ERROR)
    assert fault_words(early).startswith("it looks as a machine does before, or while, a kernel")
    link = a_verdict(fault=Fault.PCIE_DOWNGRADE)
    assert fault_words(link) == "it looks as if the PCIe link is slower than it should be"
    assert fault_words(replace(link, tier=Tier.KNOWN_ERROR)) == FAULTS[Fault.PCIE_DOWNGRADE]
    for told in (replace(early, phase=Phase.FAILED), replace(early, tier=Tier.KNOWN_ERROR)):
        assert fault_words(told) == FAULTS[told.fault]


def test_scripts_read_the_same() -> None:
    fields = json.loads(json.dumps(EXPLANATION.to_dict()))
    assert fields["verdict"] == EXPLANATION.verdict.to_dict()
    assert fields["seconds_to_decide"] == 9.0
    assert [one["status"] for one in fields["life"]] == ["firing", "resolved"]
    first = fields["considered"][0]
    assert (first["node"], first["index"], first["evidence"], first["level"]) == ("b", 3, 4.0, 10.0)


def test_what_was_not_heard_is_said_so_and_not_as_a_number() -> None:
    silent = Evidence("heartbeat", None, 1.0, -10.0, at(60))
    said = "\n".join(lines_of_verdict(Explanation((a_verdict(evidence=(silent,)),))))
    assert "heartbeat: not heard since 00:01:00" in said
    assert "deviations" not in said
    assert "none was told" in "\n".join(lines_of_verdict(Explanation((a_verdict(evidence=()),))))


def test_a_node_without_a_verdict_is_told_how_near_one_is() -> None:
    said = "\n".join(lines_of_node(NODE, at(75), [], [standing(3), standing(5), standing(4, 0.0)]))
    assert "heartbeat of rank 3 of b, stands at 40% of what would decide" in said
    assert "ranks 3, 5 of b, heartbeat: 4 of 10 s" in said
    spared = replace(standing(3, 12.0), note="it waits for another")
    said = "\n".join(lines_of_node(NODE, at(75), [], [spared]))
    assert "stands at 120% of what would decide: it waits for another" in said
    compared = replace(standing(3, 0.0), tier=Tier.PATTERN)
    nothing = "\n".join(lines_of_node(NODE, at(75), [], [compared]))
    assert "nothing speaks against it" in nothing
    assert "open: P1 ecc_error 7Q0J" in "\n".join(lines_of_node(NODE, at(75), [a_verdict()], []))


def test_what_an_open_verdict_waits_for_stands_below_it() -> None:
    verdict = a_verdict()
    ends = {verdict.id: [Hold("it ends after so long", 40, 60, "s")]}
    lines = [*lines_of_node(NODE, at(75), [verdict], [], (), ends)]
    below = next(at for at, line in enumerate(lines) if line.startswith("open:")) + 1
    assert lines[below] == "  it ends after so long (40 of 60 s)"


def test_of_whom_nobody_could_say_how_it_works_there_is_nothing_to_go_by() -> None:
    told = [replace(standing(at, None, note), tier=Tier.PATTERN) for at, note in enumerate("aabc")]
    for beside, words in ([], ""), (told, "; a; b"):
        said = "\n".join(lines_of_node(NODE, at(75), [], [standing(5, 0.0), *beside]))
        assert f"no verdict about it is open: there is nothing to go by{words}\n" in said


STILL = Hold("the job stands still")
YOUNG = Hold("it has to go on for so long", 4.0, 9.0, "s")


def test_what_holds_evidence_back_is_told_with_figures_beneath_it() -> None:
    held = replace(standing(3), holds=(YOUNG, STILL))
    said = "\n".join(lines_of_node(NODE, at(75), [], [held]))
    assert "stands at 40% of what would decide: it has to go on for so long (4 of 9 s)\n" in said
    indent = " " * 12
    assert f"\n{indent}  held back: {YOUNG.text}\n{indent}  held back: {STILL.why}" in said


def test_where_nothing_has_added_up_it_is_told_what_keeps_it_from_that() -> None:
    said = "\n".join(lines_of_node(NODE, at(75), [], [replace(standing(3, 0.0), holds=(STILL,))]))
    assert "is open: nothing has added up against it: the job stands still\n" in said


def test_what_several_nodes_show_alike_is_told_beside_the_strongest() -> None:
    alike = Standing(EntityKey(Entity.NODE, NODE), Tier.PATTERN, ALIKE, None, None)
    alike = replace(alike, holds=(Hold("4 of 9 nodes show as much"), STILL))
    said = "\n".join(lines_of_node(NODE, at(75), [], [alike, standing(3)]))
    assert "stands at 40% of what would decide; 4 of 9 nodes show as much\n" in said


def test_of_a_node_of_which_nothing_is_said_it_is_told_why_before_its_open_verdicts() -> None:
    aside = (Hold("maintenance is declared for it", 10.0, 70.0, "s"),)
    said = "\n".join(lines_of_node(NODE, at(75), [a_verdict()], [standing(3)], aside))
    first, second = said.split("\n\n")[1].splitlines()
    assert first == "nothing is said of it now: maintenance is declared for it (10 of 70 s)"
    assert second.startswith("open: ")
    assert "is open: " not in said


def test_scripts_read_what_holds_back_as_figures() -> None:
    (fields,) = standings_to_list([replace(standing(3), holds=(YOUNG, STILL))])
    assert (
        fields["holds"]
        == holds_to_list([YOUNG, STILL])
        == [
            {"why": YOUNG.why, "now": 4.0, "needed": 9.0, "unit": "s"},
            {"why": STILL.why, "now": None, "needed": None, "unit": ""},
        ]
    )


def test_a_place_is_a_card_a_node_a_group_or_the_job() -> None:
    node = a_verdict(scope=Scope.NODE, gpu=None)
    assert place_of(node) == "a"
    assert place_of(a_verdict(scope=Scope.NODE, gpu=None, rank=7)) == "a, which carries rank 7"
    members = (NodeName("a"), NodeName("b"), NodeName("c"))
    group = a_verdict(scope=Scope.GROUP, node=None, gpu=None, members=members)
    assert place_of(group) == "3 nodes together: a, b, c"
    assert "as a whole" in place_of(a_verdict(scope=Scope.JOB, node=None, gpu=None))


@pytest.mark.parametrize(
    ("metric", "value", "shown"),
    [
        ("gpu_sm_clock_hertz", 1.41e9, "1.41 GHz"),
        ("gpu_power_watts", 412.4, "412 W"),
        ("step_seconds", 0.25, "250 ms"),
        ("step_seconds", 12.5, "12.5 s"),
        ("memory_used_ratio", 0.0, "0 %"),
        ("gpu_xid", 79.0, "79"),
        ("tcp_retransmits_per_second", 1250.0, "1250 /s"),
        ("loss", float("nan"), "nothing observed"),
    ],
)
def test_values_are_shown_in_units_that_people_use(metric: str, value: float, shown: str) -> None:
    assert measure_of(metric, value).text(value) == shown


@given(st.sampled_from(sorted(shipped_catalogue().metrics)), st.just(0.0) | st.floats(1e-6, 1e14))
def test_every_metric_of_the_catalogue_has_a_name_and_a_short_value(
    metric: str, value: float
) -> None:
    measure = measure_of(metric, value)
    shown = measure.text(value)
    assert measure.name
    assert "_" not in measure.name
    assert shown.endswith(measure.unit)
    if measure.unit.startswith(tuple("kMGTmµ")):
        assert 1 <= value * measure.factor < 1001
