"""The faults by name. A new fault is a row; a new effect is a function and an entry in a row.

A fault has many possible effects, and an instance shows a random subset of them. Effects change
causes (`Causes`) and nothing else; what is seen follows from the physics. What is broken is told
beside the telemetry, in labels, and never in it. The kinds and their shares follow Table 1 of the
Minder paper (arXiv 2411.01791), whose "others" are shared out among the last rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from paramedic.ingest.synthetic.causes import Causes
from paramedic.ingest.synthetic.errors import UnknownFaultError
from paramedic.ingest.synthetic.faults import in_counters, on_cards, on_hosts, on_links
from paramedic.ingest.synthetic.faults.in_counters import driver_error
from paramedic.ingest.synthetic.faults.place import Cards
from paramedic.ingest.synthetic.faults.plan import StopKind
from paramedic.ingest.synthetic.faults.tensor_loss import tensor_loss

Effect = Callable[[Causes, Cards, float, int], None]
"""Presses on the causes of the cards, given the strength and the seconds since the onset."""


@dataclass(frozen=True, slots=True)
class FaultKind:
    """One row of the catalogue."""

    summary: str
    effects: Mapping[str, Effect]
    """What an instance may show; the first is what it is named after."""
    share: float = 0.0
    """Of all faults; 0: is not drawn."""
    stops: tuple[StopKind, ...] = ()
    """How it may become fatal."""
    stop_ratio: float = 0.0
    """How often it does."""
    whole_node_ratio: float = 0.0
    """How often it strikes all GPUs of the node."""
    is_group: bool = False
    """Strikes every node of a switch."""
    flags: Mapping[str, Effect] = field(default_factory=lambda: MappingProxyType({}))
    """What nearly names it; shown by some loud instances and few others."""


FAULTS: Mapping[str, FaultKind] = {
    "tensor_loss": FaultKind(
        "matrix work falls off the tensor cores (strength: which share of it)",
        {"tensor_loss": tensor_loss},
    ),
    "ecc_error": FaultKind(
        "GPU memory that flips bits",
        {
            "corrected_errors": in_counters.corrected_errors,
            "slower_work": on_cards.slower_work,
            "fallback": on_cards.fallback,
            "launch_gaps": on_cards.launch_gaps,
            "hot_memory": on_cards.hot_memory,
            "scrubbing": on_cards.scrubbing,
            "leaking_card": on_cards.leaking_card,
        },
        share=0.389,
        stops=(StopKind.CRASH, StopKind.CRASH, StopKind.BLOCKED),
        stop_ratio=0.33,
        flags={
            "uncorrected_errors": in_counters.uncorrected_errors,
            "row_remapping": in_counters.row_remapping,
            "remapping_failure": in_counters.remapping_failure,
            "xid_63": driver_error(63),
            "xid_94": driver_error(94),
            "xid_95": driver_error(95),
        },
    ),
    "cuda_execution_error": FaultKind(
        "kernels fail, are tried again, and end a process",
        {
            "launch_gaps": on_cards.launch_gaps,
            "slower_work": on_cards.slower_work,
            "fallback": on_cards.fallback,
            "stolen_processor": on_hosts.stolen_processor,
            "leaking_memory": on_hosts.leaking_memory,
            "leaking_card": on_cards.leaking_card,
            "restless_kernel": on_hosts.restless_kernel,
        },
        share=0.146,
        stops=(StopKind.CRASH, StopKind.HANG, StopKind.BLOCKED),
        stop_ratio=0.4,
        whole_node_ratio=0.15,
        flags={"xid_13": driver_error(13), "xid_31": driver_error(31), "xid_43": driver_error(43)},
    ),
    "gpu_execution_error": FaultKind(
        "a GPU, or all of a node, that execute badly",
        {
            "slower_work": on_cards.slower_work,
            "lower_clock": on_cards.lower_clock,
            "power_brake": on_cards.power_brake,
            "launch_gaps": on_cards.launch_gaps,
            "fallback": on_cards.fallback,
        },
        share=0.077,
        stops=(StopKind.HANG, StopKind.BLOCKED),
        stop_ratio=0.4,
        whole_node_ratio=0.45,
        flags={"xid_119": driver_error(119, True), "wants_reset": in_counters.wants_reset},
    ),
    "pcie_downgrade": FaultKind(
        "a PCIe link of fewer lanes or a lower generation",
        {
            "narrow_pcie": on_cards.narrow_pcie,
            "pcie_replays": in_counters.pcie_replays,
            "slow_loading": on_hosts.slow_loading,
        },
        share=0.066,
        whole_node_ratio=0.4,
    ),
    "machine_unreachable": FaultKind(
        "a node of which nothing comes any more",
        {
            "holes_in_telemetry": on_hosts.holes_in_telemetry,
            "lost_segments": on_links.lost_segments,
            "narrow_nic": on_links.narrow_nic,
            "stolen_processor": on_hosts.stolen_processor,
            "leaking_memory": on_hosts.leaking_memory,
            "restless_kernel": on_hosts.restless_kernel,
        },
        share=0.060,
        stops=(StopKind.NODE_GONE,),
        stop_ratio=1.0,
        whole_node_ratio=1.0,
    ),
    "nic_dropout": FaultKind(
        "a network card that does less, or nothing",
        {
            "narrow_nic": on_links.narrow_nic,
            "lost_segments": on_links.lost_segments,
            "flapping_link": on_links.flapping_link,
            "symbol_errors": on_links.symbol_errors,
        },
        share=0.057,
        stops=(StopKind.LINK_DOWN,),
        stop_ratio=0.4,
        whole_node_ratio=1.0,
    ),
    "storage_error": FaultKind(
        "a disk or file system that is slow or fails",
        {
            "slow_writing": on_hosts.slow_writing,
            "slow_reading": on_hosts.slow_reading,
            "slow_loading": on_hosts.slow_loading,
            "foreign_writing": on_hosts.foreign_writing,
        },
        share=0.057,
        stops=(StopKind.CRASH, StopKind.BLOCKED),
        stop_ratio=0.2,
        whole_node_ratio=1.0,
    ),
    "gpu_card_drop": FaultKind(
        "a GPU that falls off the bus",
        {
            "pcie_replays": in_counters.pcie_replays,
            "lower_clock": on_cards.lower_clock,
            "narrow_pcie": on_cards.narrow_pcie,
            "launch_gaps": on_cards.launch_gaps,
        },
        share=0.020,
        stops=(StopKind.CARD_GONE,),
        stop_ratio=1.0,
        flags={"xid_79": driver_error(79), "wants_reset": in_counters.wants_reset},
    ),
    "nvlink_error": FaultKind(
        "NVLink lanes that fail",
        {
            "nvlink_errors": in_counters.nvlink_errors,
            "narrow_nvlink": on_cards.narrow_nvlink,
            "slower_work": on_cards.slower_work,
        },
        share=0.017,
        stops=(StopKind.CRASH, StopKind.HANG),
        stop_ratio=0.3,
        flags={"xid_74": driver_error(74, True)},
    ),
    "aoc_error": FaultKind(
        "an optical cable that fades",
        {
            "symbol_errors": on_links.symbol_errors,
            "narrow_nic": on_links.narrow_nic,
            "lost_segments": on_links.lost_segments,
            "flapping_link": on_links.flapping_link,
        },
        share=0.009,
        whole_node_ratio=1.0,
    ),
    "thermal_throttle": FaultKind(
        "cards that get too warm",
        {
            "poor_cooling": on_cards.poor_cooling,
            "warm_air": on_hosts.warm_air,
            "hot_memory": on_cards.hot_memory,
            "lower_clock": on_cards.lower_clock,
        },
        share=0.025,
        whole_node_ratio=0.4,
    ),
    "host_contention": FaultKind(
        "another program on the host",
        {
            "stolen_processor": on_hosts.stolen_processor,
            "foreign_writing": on_hosts.foreign_writing,
            "leaking_memory": on_hosts.leaking_memory,
            "slow_loading": on_hosts.slow_loading,
        },
        share=0.025,
        whole_node_ratio=1.0,
    ),
    "straggler": FaultKind(
        "slower than the others, and no counter says why",
        {
            "slower_work": on_cards.slower_work,
            "launch_gaps": on_cards.launch_gaps,
            "slow_loading": on_hosts.slow_loading,
        },
        share=0.030,
        whole_node_ratio=0.3,
    ),
    "network_group": FaultKind(
        "a leaf switch: all nodes behind it at once",
        {
            "crowded_fabric": on_links.crowded_fabric,
            "lost_segments": on_links.lost_segments,
            "narrow_nic": on_links.narrow_nic,
        },
        share=0.022,
        stops=(StopKind.NODE_GONE,),
        stop_ratio=0.25,
        whole_node_ratio=1.0,
        is_group=True,
    ),
}


def kind_of(name: str) -> FaultKind:
    """The row of that name. Raises UnknownFaultError where there is none."""
    if name not in FAULTS:
        raise UnknownFaultError(f"fault {name!r}: known are {', '.join(sorted(FAULTS))}")
    return FAULTS[name]
