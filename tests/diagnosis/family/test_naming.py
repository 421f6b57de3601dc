"""Families are named by what departs, and nothing is named where nothing speaks."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.diagnosis.contract import Fault
from paramedic.diagnosis.family.coefficients import Coefficients, shipped_coefficients
from paramedic.diagnosis.family.naming import FamilyNamer
from paramedic.diagnosis.family.reading import shipped_knowledge
from paramedic.diagnosis.family.signature import Departure, Extent, Signature

NAMER = FamilyNamer()
CARD = ("gpu_power_watts", "gpu_temperature_celsius", "gpu_sm_clock_hertz", "gpu_sm_active_ratio")
HOST = ("cpu_utilization_ratio", "disk_read_latency_seconds", "ib_symbol_errors_per_second")


def departed(extent: Extent, deviations: dict[str, float]) -> Signature:
    """Beside what departs, ordinary metrics are observed and as they should be."""
    departures = dict.fromkeys((*CARD, *HOST), Departure(0.0))
    return Signature(extent, departures | {m: Departure(d) for m, d in deviations.items()})


@pytest.mark.parametrize(
    ("fault", "extent", "deviations"),
    [
        (Fault.ECC_ERROR, Extent.ONE_GPU, {"gpu_ecc_correctable_total": 40.0}),
        (Fault.ECC_ERROR, Extent.ONE_GPU, {"gpu_row_remap_pending": 12.0}),
        (Fault.GPU_EXECUTION_ERROR, Extent.SEVERAL_GPUS, {
            "gpu_sm_clock_hertz": -20.0, "gpu_power_watts": -11.0}),
        (Fault.THERMAL_THROTTLE, Extent.ONE_GPU, {
            "gpu_sm_clock_hertz": -12.0, "gpu_temperature_celsius": 18.0}),
        (Fault.THERMAL_THROTTLE, Extent.ONE_GPU, {
            "gpu_sm_clock_hertz": -12.0, "gpu_power_watts": -9.0,
            "gpu_temperature_celsius": 4.5, "gpu_temperature_beyond_power_celsius": 9.0}),
        (Fault.PCIE_DOWNGRADE, Extent.HOST, {
            "pfc_tx_packets_per_second": 60.0, "rdma_tx_bytes_per_second": 0.0}),
        (Fault.PCIE_DOWNGRADE, Extent.ONE_GPU, {
            "gpu_pcie_tx_bytes_per_second": -25.0, "gpu_pcie_replays_per_second": 9.0}),
        (Fault.NIC_DROPOUT, Extent.HOST, {
            "rdma_tx_bytes_per_second": -20.0, "pfc_tx_packets_per_second": 400.0}),
        (Fault.AOC_ERROR, Extent.HOST, {"ib_symbol_errors_per_second": 50.0}),
        (Fault.NVLINK_ERROR, Extent.ONE_GPU, {
            "gpu_nvlink_errors_per_second": 90.0, "gpu_nvlink_tx_bytes_per_second": -10.0}),
        (Fault.STORAGE_ERROR, Extent.HOST, {"disk_read_latency_seconds": 30.0}),
        (Fault.HOST_CONTENTION, Extent.HOST, {
            "cpu_utilization_ratio": 30.0, "cpu_utilization_beyond_threads": 9.0,
            "load_average": 30.0, "dataloader_seconds": 9.0}),
        (Fault.CUDA_EXECUTION_ERROR, Extent.HOST, {"context_switches_per_second": 40.0}),
    ],
)  # fmt: skip
def test_what_an_engineer_would_say(
    fault: Fault, extent: Extent, deviations: dict[str, float]
) -> None:
    assert NAMER.name(departed(extent, deviations)).fault is fault


@pytest.mark.parametrize(
    ("fault", "signature"),
    [
        (Fault.GPU_CARD_DROP, Signature(Extent.HOST, {}, cards_missing=True)),
        (Fault.MACHINE_UNREACHABLE, Signature(Extent.HOST, {}, rows_missing=True)),
        (Fault.PROCESS_EXIT, Signature(Extent.HOST, {}, has_exited=True)),
        (Fault.HANG, Signature(Extent.HOST, {}, has_stopped=True)),
        (Fault.THERMAL_THROTTLE, Signature(Extent.ONE_GPU, {}, slow_reasons=0x20)),
        (Fault.ECC_ERROR, Signature(Extent.ONE_GPU, {}, xids=frozenset({48}))),
        (Fault.CUDA_EXECUTION_ERROR, Signature(Extent.ONE_GPU, {}, xids=frozenset({13}))),
    ],
)
def test_absence_stops_and_the_drivers_word_name_it_too(fault: Fault, signature: Signature) -> None:
    assert NAMER.name(signature).fault is fault


SILENT = {"gpu_ecc_correctable_total": 0.0, "gpu_ecc_uncorrectable_total": 0.0}
BUSY_HOST = {
    "cpu_utilization_ratio": 40.0, "cpu_utilization_beyond_threads": 7.0, "load_average": 30.0,
    "context_switches_per_second": 18.0, "gpu_utilization_ratio": -25.0,
}  # fmt: skip


@pytest.mark.parametrize(
    "deviations",
    [
        {"gpu_sm_active_ratio": 20.0},
        {"gpu_sm_clock_hertz": -9.0},
        {"gpu_utilization_ratio": -20.0, "gpu_power_watts": -8.0},
        {"gpu_memory_used_bytes": 9.0},
        {"gpu_sm_active_ratio": 16.0, "gpu_dram_active_ratio": 6.0, "gpu_power_watts": 4.0},
    ],
)
def test_where_counters_are_silent_a_memory_error_needs_something_of_its_own(
    deviations: dict[str, float],
) -> None:
    naming = NAMER.name(departed(Extent.ONE_GPU, {**SILENT, **deviations}))
    assert naming.probabilities[Fault.ECC_ERROR] < 0.35


def test_where_no_counter_is_exported_a_low_clock_is_no_memory_error_either() -> None:
    naming = NAMER.name(departed(Extent.ONE_GPU, {"gpu_sm_clock_hertz": -9.0}))
    assert naming.fault is Fault.GPU_EXECUTION_ERROR
    assert naming.probabilities[Fault.ECC_ERROR] < 0.3


def test_a_busy_host_of_which_all_cards_stall_has_another_program() -> None:
    naming = NAMER.name(departed(Extent.SEVERAL_GPUS, BUSY_HOST))
    assert naming.fault is Fault.HOST_CONTENTION


def test_a_busy_host_of_which_one_card_stalls_tries_that_ones_launches_again() -> None:
    busy = BUSY_HOST | {"cpu_utilization_beyond_threads": 2.0, "load_average": 3.0}
    assert NAMER.name(departed(Extent.ONE_GPU, busy)).fault is Fault.CUDA_EXECUTION_ERROR


LOSES = {"tcp_retransmits_per_second": 300.0, "network_drops_per_second": 0.0}


@pytest.mark.parametrize(
    ("fault", "drops", "holes"),
    [
        (Fault.NIC_DROPOUT, 80.0, False),
        (Fault.NIC_DROPOUT, 0.0, False),
        (Fault.MACHINE_UNREACHABLE, 0.0, True),
    ],
)
def test_lost_packets_are_the_network_cards_unless_its_machine_is_heard_now_and_then(
    fault: Fault, drops: float, holes: bool
) -> None:
    losing = departed(Extent.HOST, LOSES | {"network_drops_per_second": drops})
    assert NAMER.name(replace(losing, rows_missing=holes)).fault is fault


def test_packets_that_the_card_does_not_count_as_dropped_make_it_less_likely() -> None:
    dropped = NAMER.name(departed(Extent.HOST, LOSES | {"network_drops_per_second": 80.0}))
    elsewhere = NAMER.name(departed(Extent.HOST, LOSES))
    assert (
        elsewhere.probabilities[Fault.NIC_DROPOUT] < dropped.probabilities[Fault.NIC_DROPOUT] - 0.1
    )


def test_a_card_that_answers_now_and_then_is_about_to_go() -> None:
    replays = departed(Extent.ONE_GPU, {"gpu_pcie_replays_per_second": 60.0})
    assert NAMER.name(replays).fault is Fault.PCIE_DOWNGRADE
    assert NAMER.name(replace(replays, cards_unsteady=True)).fault is Fault.GPU_CARD_DROP


def test_memory_of_a_host_is_the_jobs_own_only_where_its_processes_hold_it() -> None:
    grown = {"memory_used_ratio": 12.0, "process_resident_bytes": 0.0}
    others = NAMER.name(departed(Extent.HOST, grown))
    own = NAMER.name(departed(Extent.HOST, grown | {"process_resident_bytes": 12.0}))
    assert others.fault is Fault.HOST_CONTENTION
    assert own.fault is Fault.CUDA_EXECUTION_ERROR


@pytest.mark.parametrize(
    "deviations",
    [
        {"memory_used_ratio": 20.0, "disk_throughput_bytes_per_second": 6.6},
        {"context_switches_per_second": 30.0, "load_average": 25.0},
        {"cpu_utilization_ratio": 40.0, "memory_used_ratio": 9.0, "load_average": 12.0},
    ],
)
def test_nobody_is_out_of_reach_whose_host_is_busy_or_full_and_nothing_more(
    deviations: dict[str, float],
) -> None:
    heard = NAMER.name(departed(Extent.HOST, deviations))
    assert heard.probabilities[Fault.MACHINE_UNREACHABLE] == 0.0
    losing = NAMER.name(departed(Extent.HOST, deviations | LOSES))
    assert losing.probabilities[Fault.MACHINE_UNREACHABLE] > 0.0


def test_what_telemetry_cannot_tell_apart_is_said_with_little_probability() -> None:
    slow = {"compute_seconds": 20.0, "collective_seconds": -20.0, "gpu_sm_active_ratio": 9.0}
    naming = NAMER.name(departed(Extent.ONE_GPU, slow))
    alike = {Fault.ECC_ERROR, Fault.GPU_EXECUTION_ERROR, Fault.CUDA_EXECUTION_ERROR}
    assert naming.probability < 0.75
    assert sum(naming.probabilities[one] for one in alike | {Fault.STRAGGLER}) > 0.7


@pytest.mark.parametrize("metrics", [{}, {"vendor_secret": 900.0}, {"gpu_power_watts": 0.5}])
def test_where_nothing_known_departs_the_fault_is_unknown(metrics: dict[str, float]) -> None:
    naming = NAMER.name(departed(Extent.HOST, metrics))
    assert naming.fault is Fault.UNKNOWN
    assert naming.probability > 0.9


def test_one_weak_departure_is_not_enough_to_be_sure() -> None:
    weak = NAMER.name(departed(Extent.ONE_GPU, {"gpu_temperature_celsius": 3.0}))
    strong = NAMER.name(departed(Extent.ONE_GPU, {"gpu_temperature_celsius": 12.0}))
    assert weak.probabilities[Fault.UNKNOWN] > 0.3 > strong.probabilities[Fault.UNKNOWN]


METRICS = sorted({m for one in shipped_knowledge().symptoms for m in one.metrics})
DEVIATIONS = st.floats(-1e9, 1e9) | st.just(math.nan)


@given(st.sampled_from(Extent), st.dictionaries(st.sampled_from(METRICS), DEVIATIONS, max_size=20))
def test_probabilities_are_a_whole_the_greatest_first(
    extent: Extent, deviations: dict[str, float]
) -> None:
    shares = list(NAMER.name(departed(extent, deviations)).probabilities.values())
    assert math.isclose(sum(shares), 1.0, abs_tol=1e-9)
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] >= 0.0


def believing_in(fault: Fault) -> Coefficients:
    """As they would be fitted to a cluster where hardly anything else breaks."""
    learned = shipped_coefficients()
    at = shipped_knowledge().faults.index(fault)
    constant = learned.constant + 9.0 * (np.arange(len(learned.constant)) == at)
    return replace(learned, constant=constant)


@pytest.mark.parametrize(
    ("fault", "counter"),
    [
        (Fault.ECC_ERROR, "gpu_ecc_correctable_total"),
        (Fault.NVLINK_ERROR, "gpu_nvlink_errors_per_second"),
    ],
)
def test_what_is_learned_names_no_fault_whose_own_counter_is_silent(
    fault: Fault, counter: str
) -> None:
    namer, known = FamilyNamer(None, believing_in(fault)), FamilyNamer(None, by_knowledge_alone())
    slow = {"gpu_sm_active_ratio": 30.0, "gpu_tensor_active_ratio": -20.0}
    silent = departed(Extent.ONE_GPU, {**slow, counter: 0.0})
    shares = namer.name(silent).probabilities
    assert shares[fault] == pytest.approx(known.name(silent).probabilities[fault])
    assert sum(shares.values()) == pytest.approx(1.0)
    untold = departed(Extent.ONE_GPU, slow)
    risen = departed(Extent.ONE_GPU, {**slow, counter: 40.0})
    assert namer.name(untold).fault is namer.name(risen).fault is fault


def by_knowledge_alone() -> Coefficients:
    learned = shipped_coefficients()
    of_inputs = np.eye(*learned.of_inputs.shape)
    return replace(learned, of_inputs=of_inputs, constant=np.zeros(len(learned.constant)))
