"""What a metric is about, and what that makes of a departure: knowledge of the field, not tuning.

A busy host is no sick one, a burst of retransmits is over in seconds, a clock that is down means
something at once. So every metric has a patience: what it shows alone for less long decides
nothing. And it has a floor: smaller differences mean nothing to anybody, however steady they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from paramedic.ingest.catalogue.catalogue import shipped_catalogue
from paramedic.ingest.catalogue.metric import Kind

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray


class Scale(StrEnum):
    """In which unit differences are taken."""

    LINEAR = "linear"
    LOGARITHM = "logarithm"
    """Of latencies: twice as long is as much at a tenth of a millisecond as at ten."""
    COUNTED = "counted"
    """ln(1 + rate): of errors the first few say most."""


class About(StrEnum):
    """Metrics of one matter tell one thing; together they decide no sooner than the loudest."""

    WORK = "work"
    """What the machine does for the job: each of these metrics counts for itself."""
    USAGE = "usage"
    """Who else is busy on the host."""
    FOOTPRINT = "footprint"
    """How much memory is taken on it."""
    CLOCK = "clock"
    ROUND_TRIP = "round_trip"
    TEMPERATURE = "temperature"
    DISK = "disk"
    """How long its disks take to answer."""
    PCIE = "pcie"
    NVLINK = "nvlink"
    NETWORK = "network"
    CONGESTION = "congestion"
    LOSSES = "losses"
    """What gets lost on the way, and is sent again."""
    MEMORY = "memory"
    """Bits that had to be corrected."""
    SIGN = "sign"
    """Errors, latencies, temperatures: each for itself."""


OF_WORK = (About.WORK, About.PCIE, About.NVLINK, About.NETWORK)
"""What moves with the steps of the job."""
OF_ITSELF = (About.CLOCK, About.MEMORY, About.SIGN)
"""What a machine shows neither because it waits for another nor because it shares a switch or a
rack with one, nor because somebody is busy on its host."""

OF_OTHERS = (About.USAGE, About.FOOTPRINT)
"""What else runs on the host: that there is more of it than elsewhere is nobody's fault as long as
it was always so."""


@dataclass(frozen=True, slots=True)
class Character:
    """One metric's."""

    about: About
    patience_seconds: float
    """So long it has to depart if nothing else does."""
    scale: Scale = Scale.LINEAR
    floor_share: float = 0.02
    """Scatter counts as at least this share of the metric's level …"""
    floor: float = 0.0
    """… and at least this much, in its own unit."""
    lone_seconds: float = 0.0
    """The same where no other matter departs with it; 0: no more patience than that. Activities
    and traffic follow each other, and one of them alone is more often a matter of sampling."""
    only_rises: bool = False
    """Fewer errors, a shorter latency and a cooler card are nobody's fault."""
    only_falls: bool = False
    """A card that clocks higher has less to do."""
    passing_rate: float = 0.0
    """So many a second may be a passing burst; of more, the patience is shorter by as much. 0: any
    number may."""
    takes_increments: bool = False
    """A running total: what it has grown by in a slot is what counts."""


_WORK = Character(About.WORK, 10.0, lone_seconds=25.0)
_CHORE = Character(About.USAGE, 240.0, only_rises=True)
"""Backups and cron jobs take minutes; four are what Minder waits for any metric (section 4.4)."""
_STATE = Character(About.WORK, 10.0)
_SIGN = Character(About.SIGN, 25.0)
_ERRORS = Character(
    About.SIGN, 25.0, Scale.COUNTED, floor_share=0.01, only_rises=True, passing_rate=12.0
)
"""A link that has to train again does so within half a minute."""
_LOSSES = replace(_ERRORS, about=About.LOSSES, passing_rate=10.0, lone_seconds=45.0)
"""A network under load loses some packets for some seconds."""
_CORRECTIONS = replace(
    _ERRORS, about=About.MEMORY, patience_seconds=14.0, lone_seconds=25.0, passing_rate=4.0,
    takes_increments=True,
)  # fmt: skip
"""A weak row is corrected some times and then left alone; what corrects for half a minute, or
oftener than that, goes on."""
_LATENCY = Character(About.SIGN, 16.0, Scale.LOGARITHM, only_rises=True)
_DISK = replace(_LATENCY, about=About.DISK, floor_share=0.07, lone_seconds=30.0)
"""Twice as long is what any other program on the disk does to it, and one that tidies up by itself
is slow for half a minute."""
_CONGESTION = replace(_ERRORS, about=About.CONGESTION, passing_rate=0.0)
_FOOTPRINT = Character(About.FOOTPRINT, 60.0, only_rises=True)
_TRAFFIC = replace(_WORK, lone_seconds=60.0)
"""A card that works as much as ever has all that it needs, whatever it is sent."""
_TEMPERATURE = replace(
    _STATE, about=About.TEMPERATURE, floor_share=0.012, floor=1.0, only_rises=True,
    lone_seconds=20.0,
)  # fmt: skip
"""After a pause cards warm up at their own pace; one sensor alone says it later than two. Sensors
count whole degrees."""
_KNOWN = {
    "cpu_utilization_ratio": replace(_CHORE, floor=0.02),
    "memory_used_ratio": replace(_FOOTPRINT, floor=0.006),
    "process_resident_bytes": _FOOTPRINT,
    "context_switches_per_second": replace(_CHORE, floor_share=0.12),
    "disk_throughput_bytes_per_second": replace(_CHORE, floor_share=0.25),
    "tcp_throughput_bytes_per_second": replace(_CHORE, floor_share=0.06),
    "gpu_pcie_replays_per_second": _ERRORS,
    "gpu_nvlink_errors_per_second": _ERRORS,
    "gpu_ecc_correctable_total": _CORRECTIONS,
    "gpu_ecc_uncorrectable_total": _CORRECTIONS,
    "ib_link_downed_total": replace(_ERRORS, takes_increments=True),
    "ib_symbol_errors_per_second": replace(_ERRORS, about=About.LOSSES),
    "tcp_retransmits_per_second": _LOSSES,
    "network_drops_per_second": _LOSSES,
    "pfc_tx_packets_per_second": _CONGESTION,
    "ecn_packets_per_second": _CONGESTION,
    "cnp_packets_per_second": _CONGESTION,
    "disk_read_latency_seconds": _DISK,
    "disk_write_latency_seconds": _DISK,
    "network_round_trip_seconds": replace(_LATENCY, about=About.ROUND_TRIP),
    "gpu_memory_used_bytes": Character(About.SIGN, 14.0, floor_share=0.004, only_rises=True),
    "gpu_temperature_celsius": _TEMPERATURE,
    "gpu_memory_temperature_celsius": _TEMPERATURE,
    "gpu_sm_clock_hertz": replace(_STATE, about=About.CLOCK, floor_share=0.01, only_falls=True),
    "gpu_pcie_tx_bytes_per_second": replace(_TRAFFIC, about=About.PCIE),
    "gpu_pcie_rx_bytes_per_second": replace(_TRAFFIC, about=About.PCIE),
    "gpu_nvlink_tx_bytes_per_second": replace(_TRAFFIC, about=About.NVLINK),
    "gpu_nvlink_rx_bytes_per_second": replace(_TRAFFIC, about=About.NVLINK),
    "rdma_tx_bytes_per_second": replace(_TRAFFIC, about=About.NETWORK),
    "rdma_rx_bytes_per_second": replace(_TRAFFIC, about=About.NETWORK),
}
_UNTELLING = frozenset({"filesystem_used_ratio", "load_average", "process_stopped"})
"""How full a disk is says nothing of how a machine works, and a mean over minutes nothing of now:
it goes on when what it is about is long over."""


def character_of(metric: str) -> Character | None:
    """What a metric is about; None for codes, flags and what cannot be compared.

    >>> character_of("gpu_power_watts").about.value, character_of("gpu_xid")
    ('work', None)
    """
    if metric in _KNOWN:
        return _KNOWN[metric]
    known = shipped_catalogue().metrics.get(metric)
    is_code = known is not None and known.kind is Kind.STATE
    if is_code or metric.endswith("_total") or metric in _UNTELLING:
        return None
    return _WORK if metric.startswith("gpu_") else _SIGN


def is_about(metric: str, matters: Collection[About]) -> bool:
    """Whether the metric is about one of these matters; of codes and flags it never is.

    >>> is_about("gpu_power_watts", OF_WORK), is_about("gpu_xid", tuple(About))
    (True, False)
    """
    character = character_of(metric)
    return character is not None and character.about in matters


@dataclass(frozen=True)
class Characters:
    """Those of a list of metrics, as columns."""

    metrics: tuple[str, ...]
    patience_seconds: NDArray[np.float64]
    lone_seconds: NDArray[np.float64]
    floor_share: NDArray[np.float64]
    floor: NDArray[np.float64]
    logarithm: NDArray[np.bool_]
    counted: NDArray[np.bool_]
    passing_rate: NDArray[np.float64]
    only_rises: NDArray[np.bool_]
    only_falls: NDArray[np.bool_]
    """(metric, 1)."""
    increments: NDArray[np.bool_]
    totals: tuple[str, ...]
    """The metrics that count by what they grow."""
    work: NDArray[np.bool_]
    """Whether it tells what the machine does for the job: all that moves with its steps."""
    usage: NDArray[np.bool_]
    """Whether it tells who else is busy on the host."""
    of_itself: NDArray[np.bool_]
    """Whether it tells of the machine and of no other."""
    of_others: NDArray[np.bool_]
    """Whether it tells what else runs on the host, (metric, 1)."""
    temperature: NDArray[np.bool_]
    matters: tuple[NDArray[np.intp], ...]
    """Positions of metrics that tell one thing."""

    @cached_property
    def logarithms(self) -> NDArray[np.intp]:
        """Where metrics on that scale are."""
        return np.flatnonzero(self.logarithm)

    @cached_property
    def counts(self) -> NDArray[np.intp]:
        """Where metrics that count are."""
        return np.flatnonzero(self.counted)

    @cached_property
    def growing(self) -> NDArray[np.intp]:
        """Where running totals are."""
        return np.flatnonzero(self.increments)

    @cached_property
    def linear(self) -> NDArray[np.bool_]:
        """Whose level scales its differences, (metric, 1)."""
        return ~(self.logarithm | self.counted)[:, None]

    @cached_property
    def harmless(self) -> NDArray[np.float64]:
        """The sign of departures that are nobody's fault, (metric, 1); 0: none of them."""
        return np.subtract(self.only_falls, self.only_rises, dtype=np.float64)

    @cached_property
    def works(self) -> bool:
        """Whether there are metrics of work among them from which it can be told."""
        return bool(np.count_nonzero(self.work) > 1)


@lru_cache(maxsize=64)
def characters_of(metrics: tuple[str, ...]) -> Characters:
    """The characters of metrics that have one."""
    known = {metric: one for metric in metrics if (one := character_of(metric)) is not None}
    found = list(known.values())
    about = np.array([one.about.value for one in found])
    matters = [np.flatnonzero(about == one.value) for one in About if one not in _EACH_FOR_ITSELF]
    return Characters(
        metrics,
        _column([one.patience_seconds for one in found]),
        _column([max(one.patience_seconds, one.lone_seconds) for one in found]),
        _column([one.floor_share for one in found]),
        _column([one.floor for one in found]),
        np.array([one.scale is Scale.LOGARITHM for one in found], np.bool_),
        np.array([one.scale is Scale.COUNTED for one in found], np.bool_),
        _column([one.passing_rate or np.inf for one in found]),
        np.array([one.only_rises for one in found], np.bool_).reshape(-1, 1),
        np.array([one.only_falls for one in found], np.bool_).reshape(-1, 1),
        np.array([one.takes_increments for one in found], np.bool_),
        tuple(metric for metric, one in known.items() if one.takes_increments),
        np.array([one.about in OF_WORK for one in found], np.bool_),
        np.array([one.about is About.USAGE for one in found], np.bool_),
        np.array([one.about in OF_ITSELF for one in found], np.bool_),
        np.array([one.about in OF_OTHERS for one in found], np.bool_).reshape(-1, 1),
        np.array([one.about is About.TEMPERATURE for one in found], np.bool_),
        tuple(one for one in matters if len(one) > 1),
    )


_EACH_FOR_ITSELF = (About.WORK, About.SIGN, About.TEMPERATURE, About.CLOCK)


def _column(numbers: list[float]) -> NDArray[np.float64]:
    return np.array(numbers, np.float64).reshape(-1, 1)


@lru_cache(maxsize=64)
def telling(metrics: tuple[str, ...]) -> tuple[int, ...]:
    """Positions of the metrics that can be compared among peers."""
    return tuple(at for at, metric in enumerate(metrics) if character_of(metric) is not None)
