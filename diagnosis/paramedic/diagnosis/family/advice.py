"""What to do about a named fault, and why: the remedy that most of the probability asks for.

Faults that telemetry cannot tell apart often have one remedy, so remedies are weighed and not
families. Remediation decides; a remedy that is not likely enough to help is a test.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Fault, Recommendation, RecommendedAction
from paramedic.diagnosis.family.grounds import grounds_of
from paramedic.diagnosis.family.open_question import OUTWEIGHED, either
from paramedic.diagnosis.family.symptoms import told_families
from paramedic.diagnosis.finding import RECOMMENDATIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paramedic.diagnosis.family.naming import Naming
    from paramedic.diagnosis.family.signature import Signature

_LEAST = 0.5
"""A remedy that is less likely to help is not recommended."""
_ALSO = 0.2
"""A family that is so probable is told beside the first."""
_MEMORY_METRICS = frozenset({
    "gpu_ecc_correctable_total", "gpu_ecc_uncorrectable_total", "gpu_row_remap_pending",
    "gpu_row_remap_failed",
})  # fmt: skip
"""Whose rise tells of errors of the memory itself."""
_REMAP = "gpu_row_remap_pending"
_NO_ROW_LEFT = "gpu_row_remap_failed"
_CLEAR = 4.0
"""Standard deviations; less is noise."""

_TAKEN = frozenset({"memory_used_ratio", "process_resident_bytes"})
"""Whose rise tells that memory of the host is not given back."""
_TAKEN_OF_CARD = frozenset({"gpu_memory_used_bytes"})

_WITHOUT_GROUNDS = (Fault.STRAGGLER, Fault.HANG, Fault.PROCESS_EXIT, Fault.UNKNOWN)
"""Names that say what the machine does, and not which part of it is at fault."""

_REMEDIES: Mapping[Fault, Recommendation] = {
    **RECOMMENDATIONS,
    Fault.HANG: Recommendation(
        RecommendedAction.REPLACE_RANK,
        "the job stands still, and this machine alone does something else: it waits for it",
    ),
    Fault.MACHINE_UNREACHABLE: Recommendation(
        RecommendedAction.REPLACE_NODE,
        "it loses packets or is heard only now and then, as nodes are before they fall silent",
    ),
    Fault.ECC_ERROR: Recommendation(
        RecommendedAction.REPLACE_NODE, "memory that flips bits gets worse; test the card apart"
    ),
    Fault.CUDA_EXECUTION_ERROR: Recommendation(
        RecommendedAction.RESTART_PROCESS, "kernels fail; a new process begins with a new context"
    ),
    Fault.GPU_EXECUTION_ERROR: Recommendation(
        RecommendedAction.RESET_GPU, "the GPU executes badly; a reset clears its firmware's state"
    ),
    Fault.PCIE_DOWNGRADE: Recommendation(
        RecommendedAction.REPLACE_NODE, "a PCIe link trains anew at reboot; reseat it if not"
    ),
    Fault.NIC_DROPOUT: Recommendation(
        RecommendedAction.REPLACE_NODE, "every exchange of the job waits for its network card"
    ),
    Fault.AOC_ERROR: Recommendation(
        RecommendedAction.REPLACE_NODE, "clean or replace the optical cable while the node is out"
    ),
    Fault.NVLINK_ERROR: Recommendation(
        RecommendedAction.RESET_GPU, "NVLink trains anew at a reset of the GPU"
    ),
    Fault.STORAGE_ERROR: Recommendation(
        RecommendedAction.DRAIN_NODE, "loading and saving wait for its storage; look at the disk"
    ),
    Fault.THERMAL_THROTTLE: Recommendation(
        RecommendedAction.DRAIN_NODE, "it stays slow until fans, air and contact are looked at"
    ),
    Fault.HOST_CONTENTION: Recommendation(
        RecommendedAction.NOTIFY, "another program takes the host; ending it mends the node"
    ),
}  # fmt: skip


def advice(naming: Naming, signature: Signature) -> Recommendation:
    """The recommended action with its reason."""
    if naming.fault is Fault.ECC_ERROR and (special := _of_remapping(signature)) is not None:
        return special
    for whose, metrics in (("host", _TAKEN), ("card", _TAKEN_OF_CARD)):
        if _is_all(signature, metrics):
            return Recommendation(
                RecommendedAction.RESTART_PROCESS,
                f"memory of the {whose} is taken and not given back, and may run out; a new process"
                f" begins without it ({_told(naming)})",
            )
    wanted: defaultdict[RecommendedAction, float] = defaultdict(float)
    for fault, probability in naming.probabilities.items():
        wanted[_REMEDIES[fault].recommended] += probability
    action, *others = sorted(wanted, key=lambda one: -wanted[one])
    next_best = wanted[others[0]] if others else 0.0
    if wanted[action] < max(_LEAST, OUTWEIGHED * next_best):
        why = either(naming) or "no cause stands out"
        return Recommendation(RecommendedAction.RUN_TEST, f"{why} ({_told(naming)})")
    asking = [f for f in naming.probabilities if _REMEDIES[f].recommended is action]
    first = next((fault for fault in asking if _is_shown(fault, signature)), None)
    if first is not None:
        why = either(naming) or _REMEDIES[first].reason
        return Recommendation(action, f"{why} ({_told(naming)})")
    untold = (
        "no counter tells of memory errors: test the card's memory"
        if asking[0] is Fault.ECC_ERROR
        else "it works unlike its peers, and nothing tells which part of it is at fault"
    )
    return Recommendation(RecommendedAction.RUN_TEST, f"{untold} ({_told(naming)})")


def _is_shown(fault: Fault, signature: Signature) -> bool:
    """Whether anything is seen that the fault is known by; what is guessed is tested first."""
    if fault in _WITHOUT_GROUNDS:
        return True
    is_grounded = bool(grounds_of(fault, signature))
    return is_grounded and (fault is not Fault.ECC_ERROR or _tells_of_memory(signature))


def advice_on_waiting(naming: Naming) -> Recommendation:
    """For a rank that waits for data: in its place another may wait for the same."""
    return Recommendation(
        RecommendedAction.RUN_TEST,
        "its batches come late, and nothing of its machine says why: look at what loads them, and"
        f" at the storage behind it ({_told(naming)})",
    )


def takes_memory(signature: Signature) -> bool:
    """Whether all that is seen is memory of the host that is taken more and more."""
    return _is_all(signature, _TAKEN)


def _is_all(signature: Signature, metrics: frozenset[str]) -> bool:
    """Whether all that is seen is that some of these have risen."""
    clear = {m: one for m, one in signature.departures.items() if abs(one.deviation) >= _CLEAR}
    is_more = bool(clear) and all(one.deviation > 0 for one in clear.values())
    has_more = signature.grown or signature.xids or signature.slow_reasons
    has_ended = signature.has_stopped or signature.has_exited or signature.cards_missing
    return is_more and clear.keys() <= metrics and not (has_more or has_ended)


def _tells_of_memory(signature: Signature) -> bool:
    """Whether counters of the memory rose, or the driver told of it."""
    risen = {m for m, one in signature.departures.items() if one.deviation >= _CLEAR}
    has_risen = not _MEMORY_METRICS.isdisjoint(risen | signature.grown)
    return has_risen or Fault.ECC_ERROR in told_families(signature)


def _of_remapping(signature: Signature) -> Recommendation | None:
    """What the card itself says of its memory goes before what families need in general."""
    if _is_set(signature, _NO_ROW_LEFT):
        return Recommendation(
            RecommendedAction.REPLACE_NODE, "no spare memory row is left: the card has to go"
        )
    if _is_set(signature, _REMAP):
        return Recommendation(
            RecommendedAction.RESET_GPU, "a weak memory row is replaced at the next reset"
        )
    return None


def _is_set(signature: Signature, flag: str) -> bool:
    departure = signature.departures.get(flag)
    return flag in signature.grown or (departure is not None and departure.deviation > 0.0)


def _told(naming: Naming) -> str:
    """The first family and those that are about as probable, such as `ecc_error 61 %`."""
    shown = [
        f"{fault.value} {probability:.0%}"
        for at, (fault, probability) in enumerate(naming.probabilities.items())
        if at == 0 or probability >= _ALSO
    ]
    return ", ".join(shown)
