"""Two families that are about as probable: the advice says so, and what tells them apart."""

from __future__ import annotations

import pytest

from diagnosis.family.test_advice import named
from paramedic.diagnosis.contract import Fault, RecommendedAction
from paramedic.diagnosis.family.advice import advice
from paramedic.diagnosis.family.open_question import either, open_families
from paramedic.diagnosis.family.reading import shipped_knowledge
from paramedic.diagnosis.family.signature import Departure, Extent, Signature

PAUSING = Signature(Extent.HOST, {"pfc_tx_packets_per_second": Departure(20.0)})
SLOW = Signature(Extent.SEVERAL_GPUS, {"gpu_tensor_active_ratio": Departure(-20.0)})


@pytest.mark.parametrize(
    ("shares", "found"),
    [
        ({"pcie_downgrade": 0.62, "nic_dropout": 0.36}, ("pcie_downgrade", "nic_dropout")),
        ({"pcie_downgrade": 0.66, "nic_dropout": 0.33}, None),
        ({"straggler": 0.3, "storage_error": 0.29, "gpu_execution_error": 0.21}, None),
        ({"ecc_error": 0.5, "unknown": 0.5}, None),
        ({"ecc_error": 1.0}, None),
    ],
)
def test_it_is_open_between_two_of_which_neither_is_twice_as_probable(
    shares: dict[str, float], found: tuple[str, str] | None
) -> None:
    assert open_families(named(**shares)) == found


def test_where_both_have_one_remedy_it_is_advised_and_nothing_is_said_to_be_known() -> None:
    said = advice(named(pcie_downgrade=0.62, nic_dropout=0.36), PAUSING)
    assert said.recommended is RecommendedAction.REPLACE_NODE
    assert said.reason == (
        "it may be pcie_downgrade or nic_dropout: the PCIe link's width, generation and replays"
        " would tell of the one, the network card's own drops and link state of the other"
        " (pcie_downgrade 62%, nic_dropout 36%)"
    )


def test_a_remedy_that_is_not_twice_as_likely_as_the_next_is_tested_first() -> None:
    said = advice(named(straggler=0.52, gpu_execution_error=0.34, unknown=0.14), SLOW)
    assert said.recommended is RecommendedAction.RUN_TEST
    assert said.reason.startswith("it may be straggler or gpu_execution_error: whether another")
    sure = advice(named(straggler=0.6, gpu_execution_error=0.3, unknown=0.1), SLOW)
    assert sure.recommended is RecommendedAction.REPLACE_RANK


def test_each_family_that_may_be_in_question_has_what_would_tell_of_it() -> None:
    asked = set(shipped_knowledge().faults) - {Fault.UNKNOWN, Fault.PROCESS_EXIT}
    for fault in asked - {Fault.ECC_ERROR}:
        assert either(named(**{fault.value: 0.5, "ecc_error": 0.5}))


def test_a_little_more_memory_of_a_card_is_no_kernel_that_fails() -> None:
    taken = Signature(Extent.SEVERAL_GPUS, {"gpu_memory_used_bytes": Departure(7.9)})
    said = advice(named(cuda_execution_error=0.87, unknown=0.13), taken)
    assert said.recommended is RecommendedAction.RESTART_PROCESS
    assert said.reason.startswith("memory of the card is taken and not given back")
    busy = Signature(
        Extent.SEVERAL_GPUS, {**taken.departures, "context_switches_per_second": Departure(40.0)}
    )
    assert advice(named(cuda_execution_error=0.87), busy).reason.startswith("kernels fail")
