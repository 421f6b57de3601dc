"""What the terms of a verdict mean, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Fault, Phase, Scope, Severity, Tier
from paramedic.diagnosis.symptoms import LOADING_METRIC

if TYPE_CHECKING:
    from paramedic.diagnosis.contract import Verdict

FAULTS: Mapping[Fault, str] = {
    Fault.ECC_ERROR: "the GPU's memory flips bits, or the GPU works as if it did",
    Fault.CUDA_EXECUTION_ERROR: "a kernel failed on the GPU",
    Fault.GPU_EXECUTION_ERROR: "the GPU does not compute as it should",
    Fault.PCIE_DOWNGRADE: "the PCIe link is slower than it should be",
    Fault.NIC_DROPOUT: "the network card drops out",
    Fault.GPU_CARD_DROP: "a GPU is no longer there",
    Fault.NVLINK_ERROR: "an NVLink has errors",
    Fault.AOC_ERROR: "an optical cable or module is failing",
    Fault.STORAGE_ERROR: "a disk or the storage behind it is slow or failing",
    Fault.MACHINE_UNREACHABLE: "the machine is silent in every channel",
    Fault.THERMAL_THROTTLE: "it is too hot and runs slower to cool down",
    Fault.HOST_CONTENTION: "something else uses the host's processors or memory",
    Fault.PROCESS_EXIT: "the rank's process has ended",
    Fault.HANG: "the rank's process is there and gets nowhere",
    Fault.STRAGGLER: "the rank takes longer over its own work than its peers",
    Fault.TELEMETRY_LOST: "its telemetry has ceased",
    Fault.NODE_FAILURE_RATE: "the node fails abnormally often",
    Fault.UNKNOWN: "it works unlike its peers, and nothing says why",
    Fault.NETWORK_GROUP: "machines of one switch, rack or stage fail together",
    Fault.THROUGHPUT_DROP: "the whole job has become slower, or stands still",
    Fault.RECOVERY_OVERDUE: "a recovery takes longer than it may",
    Fault.RECOVERY_FAILED: "a recovery has failed",
    Fault.CHECKPOINT_FAILED: "a checkpoint could not be saved",
    Fault.LOSS_DIVERGENCE: "the loss is running away",
    Fault.GRADIENT_EXPLOSION: "the gradients are exploding",
    Fault.DATA_STALL: "the ranks wait for data",
    Fault.CONFIGURATION_JUMP: "learning rate or batch size jumped and nobody planned it",
    Fault.GOODPUT_LOW: "too little of the time is training",
    Fault.FAILURE_RATE_RISING: "failures become more frequent",
}
_ENDS = frozenset({
    Fault.CUDA_EXECUTION_ERROR, Fault.GPU_CARD_DROP, Fault.MACHINE_UNREACHABLE, Fault.NIC_DROPOUT,
})  # fmt: skip
"""What has happened, or has not: a machine that still works shows what comes before it at most."""
_GUESSED = frozenset({
    Fault.GPU_EXECUTION_ERROR, Fault.PCIE_DOWNGRADE, Fault.NVLINK_ERROR,
    Fault.AOC_ERROR, Fault.STORAGE_ERROR, Fault.THERMAL_THROTTLE, Fault.HOST_CONTENTION,
})  # fmt: skip
"""Which part is at fault: of a machine that departs it is what the pattern looks like most."""
_SLOWNESS = {LOADING_METRIC: "the rank waits longer for its data than its peers"}
"""By what leads the evidence."""
PHASES: Mapping[Phase, str] = {
    Phase.SYMPTOM: "a symptom, nothing has failed yet",
    Phase.DEGRADED: "running slower",
    Phase.FAILED: "has failed",
}
TIERS: Mapping[Tier, str] = {
    Tier.HEARTBEAT: "the silence of its heart-beats or telemetry",
    Tier.PATTERN: "a pattern: it departs from its peers, or from what it did before",
    Tier.APPLICATION: "what the training job itself reports",
    Tier.KNOWN_ERROR: "an error that was reported, which is hard evidence",
}
ANSWERS: Mapping[Severity, str] = {
    Severity.P0: "somebody should answer within 5 minutes",
    Severity.P1: "somebody should answer within 30 minutes",
    Severity.P2: "in working hours",
}


def fault_words(verdict: Verdict) -> str:
    """What the fault means here: of what has not happened, or is concluded, that it looks so."""
    if verdict.fault is Fault.STRAGGLER and verdict.evidence[:1]:
        words = _SLOWNESS.get(verdict.evidence[0].metric, FAULTS[verdict.fault])
    else:
        words = FAULTS[verdict.fault]
    is_early = verdict.tier is Tier.PATTERN and verdict.phase is not Phase.FAILED
    if is_early and verdict.fault in _ENDS:
        return f"it looks as a machine does before, or while, {words}"
    if is_early and verdict.fault in _GUESSED:
        return f"it looks as if {words}"
    return words


def severity_words(verdict: Verdict) -> str:
    """What the severity means here, and no more than the rest of the verdict says."""
    return f"{_gravity(verdict)}: {ANSWERS[verdict.severity]}"


def _gravity(verdict: Verdict) -> str:
    match verdict.severity:
        case Severity.P2:
            return "a trend, or nothing that is failing yet"
        case Severity.P1:
            if verdict.scope is Scope.JOB:
                return "the training is in trouble"
            return f"one machine {'has failed' if verdict.phase is Phase.FAILED else 'is failing'}"
        case Severity.P0:
            if verdict.phase is Phase.FAILED:
                return "the job cannot go on"
            return "the job stands or has lost half of its speed, or several machines are failing"


def place_of(verdict: Verdict) -> str:
    """Whom a verdict is about, in words."""
    node = verdict.node or ""
    match verdict.scope:
        case Scope.GPU:
            return f"GPU {verdict.gpu} of {node}"
        case Scope.NODE:
            return node if verdict.rank is None else f"{node}, which carries rank {verdict.rank}"
        case Scope.GROUP:
            return f"{len(verdict.members)} nodes together: {', '.join(verdict.members)}"
        case Scope.JOB:
            return "the job as a whole, nobody in particular"
