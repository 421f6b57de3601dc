"""Words and evidence for machines that depart from their peers or are no longer heard of."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.contract import Candidate, Evidence, Fault, Phase, Tier
from paramedic.diagnosis.explanation.measures import measure_of
from paramedic.diagnosis.family.accused import as_accused
from paramedic.diagnosis.family.advice import advice, takes_memory
from paramedic.diagnosis.family.measuring import Stretch, measured
from paramedic.diagnosis.family.naming import shipped_namer
from paramedic.diagnosis.finding import Finding, moment, ranked
from paramedic.diagnosis.machine_evidence import evidence_of
from paramedic.diagnosis.materiality import LEAST_SHARE
from paramedic.diagnosis.recent import parted, recent_means
from paramedic.diagnosis.telling_apart import sets_apart
from paramedic.ingest.contract import Entity
from paramedic.ingest.wording import counted
from paramedic.models.departure.character import OF_WORK, character_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from paramedic.diagnosis.departure import Departure
    from paramedic.diagnosis.family.naming import Naming
    from paramedic.diagnosis.family.signature import Signature
    from paramedic.diagnosis.settings import DepartureSettings
    from paramedic.ingest.contract import NodeName, Window

_CANDIDATES = 5
_EVIDENCE = 6
_SECONDS_TOLD, _FEWEST_SECONDS_TOLD = 30, 3
_WORTH_MENTION = 3.0
"""A metric this far from the peers (in robust standard deviations) is worth mentioning."""
_ABOUT_AS_LOUD = 0.5
"""Of metrics of work that say so much of what the loudest says, the one that lost most leads."""
_LEAST_TOLD_SHARE = 0.1
_NAMING = 3
"""Lines of evidence that tell the fault and do not accuse."""
_WORDS = {
    "gpu_tensor_active_ratio": "tensor activity",
    "gpu_dram_active_ratio": "memory activity",
    "gpu_sm_active_ratio": "SM activity",
    "gpu_fp16_active_ratio": "FP16 activity",
    "gpu_fp32_active_ratio": "FP32 activity",
    "gpu_graphics_active_ratio": "engine activity",
    "gpu_sm_clock_hertz": "SM clock",
    "gpu_nvlink_errors_per_second": "NVLink errors",
    "gpu_pcie_replays_per_second": "PCIe replays",
    "gpu_ecc_correctable_total": "corrected memory errors",
    "gpu_ecc_uncorrectable_total": "uncorrected memory errors",
    "pfc_tx_packets_per_second": "pause frames sent (PFC)",
    "ecn_packets_per_second": "packets marked for congestion (ECN)",
    "cnp_packets_per_second": "congestion notices (CNP)",
    "ib_symbol_errors_per_second": "symbol errors on its InfiniBand link",
    "ib_link_downed_total": "losses of its InfiniBand link",
    "rdma_tx_bytes_per_second": "RDMA sending",
    "rdma_rx_bytes_per_second": "RDMA receiving",
    "tcp_throughput_bytes_per_second": "TCP traffic",
    "tcp_retransmits_per_second": "TCP retransmits",
    "gpu_nvlink_tx_bytes_per_second": "NVLink sending",
    "gpu_nvlink_rx_bytes_per_second": "NVLink receiving",
    "gpu_pcie_tx_bytes_per_second": "PCIe sending",
    "gpu_pcie_rx_bytes_per_second": "PCIe receiving",
    "cpu_utilization_ratio": "CPU use",
}
_UNITS = ("_bytes_per_second", "_per_second", "_ratio", "_watts", "_celsius", "_bytes", "_seconds")


def finding_of_departure(
    departure: Departure,
    windows: Mapping[Entity, Window],
    generation: int,
    suspicion: Mapping[NodeName, float],
    settings: DepartureSettings,
    *,
    is_standing: bool = False,
) -> Finding:
    """The accusation with its numbers; windows that end in the slot that decided.

    `is_standing`: the whole job does nothing.
    """
    onset = moment(departure.since)
    signature = _signature(departure, windows, is_standing=is_standing)
    naming = shipped_namer().name(signature)
    fault = _fault(naming)
    named_by = evidence_of(
        fault, signature, windows, departure.node, _stretch(departure), departure.gpu
    )
    evidence = _evidence(departure, windows[departure.row.entity], list(named_by))
    return Finding(
        node=departure.node,
        rank=None,
        generation=generation,
        fault=fault,
        phase=Phase.SYMPTOM,
        tier=Tier.PATTERN,
        confidence=_confidence(departure, settings),
        onset=onset,
        detected_at=moment(departure.second),
        summary=_summary(departure, evidence[0], windows, is_standing=is_standing),
        candidates=_candidates(departure, suspicion),
        evidence=evidence,
        gpu=departure.gpu,
        action=advice(naming, signature),
        is_trend=takes_memory(signature),
        throughput_ratio=0.0 if is_standing else math.nan,
    )


def _signature(
    departure: Departure, windows: Mapping[Entity, Window], *, is_standing: bool
) -> Signature:
    signature = measured(windows, (), departure.node, _stretch(departure), departure.gpu)
    nats = {metric: share * departure.nats for metric, share in departure.weights.items()}
    return as_accused(signature, nats, departure.told_by, is_standing=is_standing)


def _stretch(departure: Departure) -> Stretch:
    return Stretch(departure.since, departure.second)


def _fault(naming: Naming) -> Fault:
    """The most probable family; that a process has ended is told by its exit alone."""
    return next(fault for fault in naming.probabilities if fault is not Fault.PROCESS_EXIT)


def _confidence(departure: Departure, settings: DepartureSettings) -> float:
    """Share of alarms with this much evidence that are real: false ones are rarer beyond level."""
    surplus = max(departure.nats - departure.level, 0.0)
    false_alarms = settings.false_alarms_per_job_day * math.exp(-surplus)
    expected = settings.expected_faults_per_job_day
    return round(float(expected / (expected + false_alarms)), 4)


def _candidates(departure: Departure, suspicion: Mapping[NodeName, float]) -> tuple[Candidate, ...]:
    """The accused first, whatever is open against others."""
    own = Candidate(departure.node, round(suspicion.get(departure.node, 0.0), 2))
    others = ((node, score) for node, score in suspicion.items() if node != departure.node)
    return (own, *ranked(others, _CANDIDATES - 1))


def _evidence(
    departure: Departure, window: Window, named_by: Sequence[Evidence]
) -> tuple[Evidence, ...]:
    """What speaks against it, the headline first, then what its fault is known by."""
    accusing = [one for one in _accusing(departure, window) if sets_apart(one)]
    told = {one.metric for one in accusing}
    naming = [one for one in named_by if one.metric not in told][:_NAMING]
    if accusing:
        lead = _headline(accusing, departure.weights)
    else:
        has_numbers = (one for one in naming if character_of(one.metric) is not None)
        lead = next(has_numbers, None) or next(_accusing(departure, window))
    return (lead, *(one for one in (*accusing, *naming) if one is not lead))


def _accusing(departure: Departure, window: Window) -> Iterator[Evidence]:
    """The metrics that say most, the loudest first, with what they have added up to."""
    seconds = min(_SECONDS_TOLD, max(_FEWEST_SECONDS_TOLD, departure.seconds))
    slots = max(1, seconds // window.slot_seconds)
    own, others = parted(window, departure.node, departure.row.index)
    loudest = list(departure.told_by.items())[:_EVIDENCE]
    since = moment(departure.since)
    for at, (metric, momentary) in enumerate(loudest):
        means = recent_means(window, metric, slots)
        value, peers = _number(means[own]), _number(means[others])
        deviation = _deviation(departure, metric, momentary, value, peers)
        if at == 0 or abs(deviation) >= _WORTH_MENTION:
            yield Evidence(metric, value, peers, round(deviation, 2), since)


def _deviation(
    departure: Departure, metric: str, momentary: float, value: float | None, peers: float | None
) -> float:
    """How far out it is: that of the slot that decided, or what has added up, if that is more.

    So many nats are worth √(2 nats) standard deviations. In a slot in which it hardly departs its
    direction is that of the numbers.
    """
    added_up = math.sqrt(2.0 * departure.weights.get(metric, 0.0) * departure.nats)
    if abs(momentary) >= max(added_up, _WORTH_MENTION) or value is None or peers is None:
        return momentary
    is_clear = abs(momentary) >= _WORTH_MENTION
    return math.copysign(max(added_up, abs(momentary)), momentary if is_clear else value - peers)


def _number(means: NDArray[np.float64]) -> float | None:
    """The median of those that are known."""
    known = means[np.isfinite(means)]
    return float(np.median(known)) if known.size else None


def _headline(found: Sequence[Evidence], weights: Mapping[str, float]) -> Evidence:
    """What says most; of the machine's work, which many metrics show, what has changed most.

    People understand a loss best, but a metric that is much quieter than the loudest never leads.
    """
    loudest = found[0]
    if not _is_of_work(loudest.metric):
        return loudest
    least = _ABOUT_AS_LOUD * weights.get(loudest.metric, 0.0)
    alike = [one for one in found if weights.get(one.metric, 0.0) >= least]
    telling = [one for one in alike if _is_of_work(one.metric) and _is_much(one)]
    return max(telling, key=_told_first, default=loudest)


def _is_of_work(metric: str) -> bool:
    known = character_of(metric)
    return known is not None and known.about in OF_WORK


def _is_much(evidence: Evidence) -> bool:
    share = _share(evidence)
    return share is not None and abs(share) >= _LEAST_TOLD_SHARE


def _told_first(evidence: Evidence) -> tuple[bool, float]:
    share = _share(evidence) or 0.0
    return share < 0, abs(share)


def _share(evidence: Evidence) -> float | None:
    """By how much the value differs, as a share of the peers'."""
    if evidence.value is None or not evidence.peers:
        return None
    return evidence.value / evidence.peers - 1


def _summary(
    departure: Departure,
    lead: Evidence,
    windows: Mapping[Entity, Window],
    *,
    is_standing: bool = False,
) -> str:
    is_own = lead.metric in windows[departure.row.entity].metrics
    window = windows[departure.row.entity if is_own else Entity.NODE]
    alike = len(departure.alike) if is_own else 1
    who = _whose(departure, is_of_host=departure.row.index is None or not is_own)
    peers = counted(len(window.rows) - alike, "peer")
    since = _meanwhile(departure, is_standing=is_standing)
    if not sets_apart(lead):
        return f"{who} works at other times than its {peers}{since}"
    numbers = ", ".join((*_numbers(lead), f"for {departure.seconds} s"))
    return f"{who} {_change(lead)} against its {peers} ({numbers}){since}"


def _whose(departure: Departure, *, is_of_host: bool) -> str:
    if is_of_host:
        return f"the host {departure.node}"
    if departure.gpu is not None:
        return f"GPU {departure.gpu} of {departure.node}"
    return f"{departure.node} ({len(departure.alike)} of its GPUs)"


def _meanwhile(departure: Departure, *, is_standing: bool) -> str:
    """What the whole job does since then."""
    if is_standing:
        return ", and the whole job stands still"
    lost = departure.job_lost_share or 0.0
    if lost < LEAST_SHARE:
        return ""
    return f", and the whole job has worked {_percent(lost)} less since then"


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("%", " %")


def _change(lead: Evidence) -> str:
    share, what = _share(lead), _words(lead.metric)
    if share is None or abs(share) >= 1:
        return f"shows far {'more' if is_higher(lead) else 'less'} {what}"
    if share < 0:
        return f"lost {_percent(-share)} {what}"
    return f"shows {_percent(share)} more {what}"


def is_higher(evidence: Evidence) -> bool:
    """Whether the value is above the peers', by the numbers that are told; else by the deviation,
    which is of the slot that decided, while the numbers are means of the time before it."""
    if evidence.value is None or evidence.peers is None or evidence.value == evidence.peers:
        return evidence.deviation > 0
    return evidence.value > evidence.peers


def _words(metric: str) -> str:
    """A metric as people say it.

    >>> _words("gpu_power_watts"), _words("load_average")
    ('power', 'load average')
    """
    if metric in _WORDS:
        return _WORDS[metric]
    unit = next((unit for unit in _UNITS if metric.endswith(unit)), "")
    return metric.removesuffix(unit).removeprefix("gpu_").replace("_", " ")


def _numbers(evidence: Evidence) -> tuple[str, ...]:
    """What is known of both, one against the other."""
    known = [one for one in (evidence.value, evidence.peers) if one is not None]
    measure = measure_of(evidence.metric, max(map(abs, known), default=1.0))
    return (" against ".join(map(measure.text, known)),) if known else ()
