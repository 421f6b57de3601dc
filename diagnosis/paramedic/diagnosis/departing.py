"""Words and evidence for machines that depart from their peers or are no longer heard of."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.contract import Candidate, Evidence, Fault, Phase, Tier
from paramedic.diagnosis.finding import Finding, moment, ranked
from paramedic.ingest.contract import Entity

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from paramedic.diagnosis.absence import Absence
    from paramedic.diagnosis.departures import Departure
    from paramedic.diagnosis.settings import DepartureSettings
    from paramedic.ingest.contract import NodeName

_CANDIDATES = 5
_EVIDENCE = 6
_WORTH_MENTION = 3.0
"""A metric this far from the peers (in robust standard deviations) is worth mentioning."""
_TELLING_SHARE = 0.25
"""Of the metrics with so much of the largest deviation, the one that lost most is named."""
_LEAST_TOLD_SHARE = 0.1
_KINDS = {Entity.GPU: "GPU ", Entity.NODE: "host "}
_CONFIDENCE_UNHEARD = 0.9
_WORDS = {
    "gpu_tensor_active_ratio": "tensor activity",
    "gpu_dram_active_ratio": "memory activity",
    "gpu_sm_active_ratio": "SM activity",
    "gpu_fp16_active_ratio": "FP16 activity",
    "gpu_fp32_active_ratio": "FP32 activity",
    "gpu_graphics_active_ratio": "engine activity",
    "gpu_sm_clock_hertz": "SM clock",
    "gpu_nvlink_tx_bytes_per_second": "NVLink sending",
    "gpu_nvlink_rx_bytes_per_second": "NVLink receiving",
    "gpu_pcie_tx_bytes_per_second": "PCIe sending",
    "gpu_pcie_rx_bytes_per_second": "PCIe receiving",
    "cpu_utilization_ratio": "CPU use",
}
_UNITS = ("_bytes_per_second", "_per_second", "_ratio", "_watts", "_celsius", "_bytes", "_seconds")


def finding_of_departure(
    departure: Departure,
    generation: int,
    suspicion: Mapping[NodeName, float],
    settings: DepartureSettings,
) -> Finding:
    """The accusation with its numbers."""
    onset = moment(departure.since)
    evidence = _evidence(departure, onset)
    return Finding(
        node=departure.node,
        rank=None,
        generation=generation,
        fault=Fault.UNKNOWN,
        phase=Phase.SYMPTOM,
        tier=Tier.PATTERN,
        confidence=_confidence(departure, settings),
        onset=onset,
        detected_at=moment(departure.second),
        summary=_summary(departure, evidence[0]),
        candidates=_candidates(departure, suspicion),
        evidence=evidence,
        gpu=departure.gpu,
    )


def finding_of_absence(absence: Absence, generation: int) -> Finding:
    """The fact that nothing is heard of a node."""
    whose = "".join(_KINDS[kind] for kind in absence.kinds if len(absence.kinds) == 1)
    seconds = absence.second - absence.since
    since = moment(absence.since)
    return Finding(
        node=absence.node,
        rank=None,
        generation=generation,
        fault=Fault.TELEMETRY_LOST,
        phase=Phase.SYMPTOM,
        tier=Tier.HEARTBEAT,
        confidence=_CONFIDENCE_UNHEARD,
        onset=since,
        detected_at=moment(absence.second),
        summary=f"the {whose}telemetry of {absence.node} has ceased for {seconds} s,"
        f" while {absence.peers_heard} other nodes are heard",
        candidates=(Candidate(absence.node, 1.0),),
        evidence=(Evidence("telemetry", None, 1.0, 0.0, since),),
    )


def _confidence(departure: Departure, settings: DepartureSettings) -> float:
    """Share of alarms with this much evidence that are real: false ones are rarer beyond level."""
    test = departure.test
    surplus = (test.evidence.score[departure.at] - test.level) / test.evidence.tail.fold
    false_alarms = settings.false_alarms_per_job_day * math.exp(-max(surplus, 0.0))
    expected = settings.expected_faults_per_job_day
    return round(float(expected / (expected + false_alarms)), 4)


def _candidates(departure: Departure, suspicion: Mapping[NodeName, float]) -> tuple[Candidate, ...]:
    """The accused first, whatever is open against others."""
    own = Candidate(departure.node, round(suspicion.get(departure.node, 0.0), 2))
    others = ((node, score) for node, score in suspicion.items() if node != departure.node)
    return (own, *ranked(others, _CANDIDATES - 1))


def _evidence(departure: Departure, since: datetime) -> tuple[Evidence, ...]:
    """The metrics that speak loudest, the one that has changed most first."""
    scores = departure.test.scores
    assert scores is not None  # a departure has been scored
    deviation = np.nan_to_num(scores.deviation[departure.at])
    loudest = np.argsort(-np.abs(deviation), kind="stable")[:_EVIDENCE]
    least = min(_WORTH_MENTION, float(np.abs(deviation[loudest[0]])))
    found = [
        Evidence(
            scores.metrics[m],
            float(scores.value[departure.at, m]),
            float(scores.peers[departure.at, m]),
            round(float(deviation[m]), 2),
            since,
        )
        for m in loudest.tolist()
        if abs(deviation[m]) >= least
    ]
    lead = max(found, key=lambda one: _told_first(one, abs(found[0].deviation)))
    return (lead, *(one for one in found if one is not lead))


def _told_first(evidence: Evidence, loudest: float) -> float:
    """People understand a loss best; a metric that is much quieter than the loudest never leads."""
    share = _share(evidence)
    is_quiet = abs(evidence.deviation) < _TELLING_SHARE * loudest
    if is_quiet or share is None or abs(share) < _LEAST_TOLD_SHARE:
        return -math.inf
    return -share if share < 0 else -1 / share


def _share(evidence: Evidence) -> float | None:
    """By how much the value differs, as a share of the peers'."""
    if evidence.value is None or not evidence.peers:
        return None
    return evidence.value / evidence.peers - 1


def _summary(departure: Departure, lead: Evidence) -> str:
    scores = departure.test.scores
    assert scores is not None  # a departure has been scored
    name = departure.node
    if departure.gpu is not None:
        who = f"GPU {departure.gpu} of {name}"
    elif departure.row.index is None:
        who = f"the host {name}"
    else:
        who = f"{name} ({len(departure.alike)} of its GPUs)"
    against = f"its {len(scores.rows) - len(departure.alike)} peers"
    if departure.test.is_among_siblings:
        against = "the other GPUs of its node"
    return f"{who} {_change(lead)} against {against} ({_numbers(lead)}, for {departure.seconds} s)"


def _change(lead: Evidence) -> str:
    share, what = _share(lead), _words(lead.metric)
    if share is None or abs(share) >= 1:
        more = "more" if lead.deviation > 0 else "less"
        return f"shows far {more} {what}"
    if share < 0:
        return f"lost {-share:.0%} {what}".replace("%", " %")
    return f"shows {share:.0%} more {what}".replace("%", " %")


def _words(metric: str) -> str:
    """A metric as people say it.

    >>> _words("gpu_power_watts"), _words("load_average")
    ('power', 'load average')
    """
    if metric in _WORDS:
        return _WORDS[metric]
    unit = next((unit for unit in _UNITS if metric.endswith(unit)), "")
    return metric.removesuffix(unit).removeprefix("gpu_").replace("_", " ")


def _numbers(evidence: Evidence) -> str:
    return f"{evidence.value:.3g} against {evidence.peers:.3g}"
