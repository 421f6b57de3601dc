"""A family that is open: two that are about as probable, and what would tell which it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Fault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paramedic.diagnosis.family.naming import Naming

OUTWEIGHED = 2.0
"""What is not so many times as probable as the next is no better than the toss of a coin."""
_NO_PART = (Fault.UNKNOWN, Fault.PROCESS_EXIT)
"""No candidates: the one says that nobody knows, the other is told by its event alone."""
_SHOWN_BY: Mapping[Fault, str] = {
    Fault.ECC_ERROR: "ECC counters and a test of the card's memory",
    Fault.CUDA_EXECUTION_ERROR: "Xids and failed launches in the job's log",
    Fault.GPU_EXECUTION_ERROR: "a compute test of the card alone",
    Fault.PCIE_DOWNGRADE: "the PCIe link's width, generation and replays",
    Fault.NIC_DROPOUT: "the network card's own drops and link state",
    Fault.AOC_ERROR: "the cable's optical power and symbol errors",
    Fault.NVLINK_ERROR: "NVLink's error counters",
    Fault.STORAGE_ERROR: "disk latencies and the loader's seconds",
    Fault.THERMAL_THROTTLE: "the reasons for a low clock, fans and air",
    Fault.HOST_CONTENTION: "a list of what else runs on the host",
    Fault.STRAGGLER: "whether another process in its place is as slow",
    Fault.HANG: "a stack of its process",
    Fault.MACHINE_UNREACHABLE: "whether it answers in every channel",
    Fault.GPU_CARD_DROP: "whether the driver lists all cards",
}


def open_families(naming: Naming) -> tuple[Fault, Fault] | None:
    """The two that it may be; None where one stands out, or more than two are in question."""
    ranked = list(naming.probabilities.items())[:3]
    if len(ranked) < 2:
        return None
    (first, share), (second, next_share), *others = ranked
    third_share = others[0][1] if others else 0.0
    stands_out = share >= OUTWEIGHED * next_share
    are_more = next_share < OUTWEIGHED * third_share
    if stands_out or are_more or first in _NO_PART or second in _NO_PART:
        return None
    return first, second


def either(naming: Naming) -> str:
    """Which two it may be, and what tells them apart; empty where it is not open."""
    found = open_families(naming)
    if found is None:
        return ""
    first, second = found
    return (
        f"it may be {first.value} or {second.value}: {_SHOWN_BY[first]} would tell of the one,"
        f" {_SHOWN_BY[second]} of the other"
    )
