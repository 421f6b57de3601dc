"""The remedy that most of the probability asks for, with its reason."""

from __future__ import annotations

import pytest

from paramedic.diagnosis.contract import Fault, RecommendedAction
from paramedic.diagnosis.family.advice import advice, advice_on_waiting, takes_memory
from paramedic.diagnosis.family.naming import Naming
from paramedic.diagnosis.family.reading import shipped_knowledge
from paramedic.diagnosis.family.signature import Departure, Extent, Signature

PLAIN = Signature(Extent.ONE_GPU, {})
CORRECTED = Signature(Extent.ONE_GPU, {}, grown=frozenset({"gpu_ecc_correctable_total"}))
LOSING = Signature(Extent.HOST, {"tcp_retransmits_per_second": Departure(90.0)})


def named(**shares: float) -> Naming:
    ranked = sorted(shares.items(), key=lambda one: -one[1])
    return Naming({Fault(fault): share for fault, share in ranked})


@pytest.mark.parametrize("fault", shipped_knowledge().faults)
def test_every_family_has_a_remedy_and_a_reason(fault: Fault) -> None:
    said = advice(named(**{fault.value: 1.0}), PLAIN)
    assert said.recommended is not RecommendedAction.NONE
    assert said.reason.endswith(f"({fault.value} 100%)")


def test_families_that_cannot_be_told_apart_share_a_remedy() -> None:
    said = advice(named(aoc_error=0.4, nic_dropout=0.35, host_contention=0.25), LOSING)
    assert said.recommended is RecommendedAction.REPLACE_NODE
    assert "aoc_error 40%, nic_dropout 35%" in said.reason


def test_the_first_family_does_not_win_against_several_with_another_remedy() -> None:
    shares = {"host_contention": 0.3, "ecc_error": 0.27, "pcie_downgrade": 0.23, "nic_dropout": 0.2}
    said = advice(named(**shares), CORRECTED)
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
    replays = Departure(9.0)
    both = Signature(Extent.ONE_GPU, {flag: Departure(5.0), "gpu_pcie_replays_per_second": replays})
    assert advice(named(pcie_downgrade=1.0), both).reason.startswith("a PCIe link")


SLOW = {"gpu_utilization_ratio": Departure(-20.0), "gpu_power_watts": Departure(3.0)}


@pytest.mark.parametrize(
    ("fault", "shown", "action"),
    [
        ("cuda_execution_error", {"context_switches_per_second": 40.0}, "restart_process"),
        ("gpu_execution_error", {"gpu_sm_clock_hertz": -20.0}, "reset_gpu"),
        ("pcie_downgrade", {"gpu_pcie_replays_per_second": 30.0}, "replace_node"),
        ("storage_error", {"disk_read_latency_seconds": 9.0}, "drain_node"),
        ("host_contention", {"cpu_utilization_ratio": 40.0}, "notify"),
    ],
)
def test_a_part_is_mended_only_where_something_is_seen_that_its_fault_is_known_by(
    fault: str, shown: dict[str, float], action: str
) -> None:
    guessed = advice(named(**{fault: 0.9}), Signature(Extent.ONE_GPU, SLOW))
    assert guessed.recommended is RecommendedAction.RUN_TEST
    assert "nothing tells which part" in guessed.reason
    known = {**SLOW, **{metric: Departure(far) for metric, far in shown.items()}}
    assert advice(named(**{fault: 0.9}), Signature(Extent.ONE_GPU, known)).recommended == action


def test_what_hangs_and_what_is_slow_needs_no_broken_part() -> None:
    for fault in ("hang", "straggler"):
        said = advice(named(**{fault: 0.9}), Signature(Extent.ONE_GPU, SLOW))
        assert said.recommended is RecommendedAction.REPLACE_RANK


def test_in_place_of_a_rank_that_waits_for_data_another_may_wait_for_the_same() -> None:
    said = advice_on_waiting(named(straggler=0.6, storage_error=0.4))
    assert said.recommended is RecommendedAction.RUN_TEST
    assert "look at what loads them, and at the storage behind it" in said.reason


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
