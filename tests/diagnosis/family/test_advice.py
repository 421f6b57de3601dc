"""The remedy that most of the probability asks for, with its reason."""

from __future__ import annotations

import pytest

from paramedic.diagnosis.contract import Fault, RecommendedAction
from paramedic.diagnosis.family.advice import advice, takes_memory
from paramedic.diagnosis.family.naming import Naming
from paramedic.diagnosis.family.reading import shipped_knowledge
from paramedic.diagnosis.family.signature import Departure, Extent, Signature

PLAIN = Signature(Extent.ONE_GPU, {})
CORRECTED = Signature(Extent.ONE_GPU, {}, grown=frozenset({"gpu_ecc_correctable_total"}))


def named(**shares: float) -> Naming:
    ranked = sorted(shares.items(), key=lambda one: -one[1])
    return Naming({Fault(fault): share for fault, share in ranked})


@pytest.mark.parametrize("fault", shipped_knowledge().faults)
def test_every_family_has_a_remedy_and_a_reason(fault: Fault) -> None:
    said = advice(named(**{fault.value: 1.0}), PLAIN)
    assert said.recommended is not RecommendedAction.NONE
    assert said.reason.endswith(f"({fault.value} 100%)")


def test_families_that_cannot_be_told_apart_share_a_remedy() -> None:
    said = advice(named(aoc_error=0.4, nic_dropout=0.35, host_contention=0.25), PLAIN)
    assert said.recommended is RecommendedAction.REPLACE_NODE
    assert "aoc_error 40%, nic_dropout 35%" in said.reason


def test_the_first_family_does_not_win_against_several_with_another_remedy() -> None:
    said = advice(named(host_contention=0.4, ecc_error=0.35, pcie_downgrade=0.25), CORRECTED)
    assert said.recommended is RecommendedAction.REPLACE_NODE
    assert said.reason.startswith("memory that flips bits")


@pytest.mark.parametrize(
    "telling",
    [
        CORRECTED,
        Signature(Extent.ONE_GPU, {"gpu_ecc_uncorrectable_total": Departure(6.0)}),
        Signature(Extent.ONE_GPU, {}, xids=frozenset({94})),
    ],
)
def test_nobody_is_replaced_for_memory_errors_of_which_nothing_tells(telling: Signature) -> None:
    quiet = Signature(Extent.ONE_GPU, {"gpu_ecc_correctable_total": Departure(0.2)})
    for unseen in (PLAIN, quiet):
        said = advice(named(ecc_error=0.9, unknown=0.1), unseen)
        assert said.recommended is RecommendedAction.RUN_TEST
        assert said.reason.startswith("no counter tells of memory errors")
    assert advice(named(ecc_error=0.9), telling).recommended is RecommendedAction.REPLACE_NODE


def test_no_remedy_that_is_unlikely_to_help() -> None:
    shares = {"host_contention": 0.4, "ecc_error": 0.3, "straggler": 0.3}
    said = advice(named(**shares), PLAIN)
    assert said.recommended is RecommendedAction.RUN_TEST
    assert said.reason.startswith("no cause stands out")


@pytest.mark.parametrize(
    ("flag", "action"),
    [
        ("gpu_row_remap_pending", RecommendedAction.RESET_GPU),
        ("gpu_row_remap_failed", RecommendedAction.REPLACE_NODE),
    ],
)
def test_what_the_card_says_of_its_rows_goes_first(flag: str, action: RecommendedAction) -> None:
    naming = named(ecc_error=0.9, pcie_downgrade=0.1)
    departed = Signature(Extent.ONE_GPU, {flag: Departure(5.0)})
    grown = Signature(Extent.ONE_GPU, {}, grown=frozenset({flag}))
    assert advice(naming, departed) == advice(naming, grown)
    assert advice(naming, departed).recommended is action
    assert advice(named(pcie_downgrade=1.0), departed).reason.startswith("a PCIe link")


HOST = {"memory_used_ratio": Departure(9.0), "load_average": Departure(0.5)}


def test_of_memory_that_is_taken_that_is_said_and_not_that_a_kernel_failed() -> None:
    growing = Signature(Extent.HOST, HOST)
    said = advice(named(cuda_execution_error=0.6, machine_unreachable=0.4), growing)
    assert takes_memory(growing)
    assert said.recommended is RecommendedAction.RESTART_PROCESS
    assert said.reason.startswith("memory of the host is taken and not given back, and may run out")
    assert said.reason.endswith("(cuda_execution_error 60%, machine_unreachable 40%)")


@pytest.mark.parametrize(
    "more",
    [
        Signature(Extent.HOST, {**HOST, "gpu_power_watts": Departure(-7.0)}),
        Signature(Extent.HOST, {"memory_used_ratio": Departure(-9.0)}),
        Signature(Extent.HOST, HOST, xids=frozenset({31})),
        Signature(Extent.HOST, HOST, has_stopped=True),
        Signature(Extent.HOST, {}),
    ],
)
def test_memory_beside_anything_else_is_no_such_trend(more: Signature) -> None:
    assert not takes_memory(more)
