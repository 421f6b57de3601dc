"""One instance of a fault: a random subset of its effects, and perhaps a fatal end."""

from __future__ import annotations

from dataclasses import replace
from zlib import crc32

import numpy as np

from paramedic.ingest.synthetic.errors import UnknownFaultError
from paramedic.ingest.synthetic.faults.catalogue import FaultKind, kind_of
from paramedic.ingest.synthetic.faults.plan import FaultPlan, Loudness, Stop, StopKind, Symptom

_ALONE_RATIO = 0.4
"""How often an instance shows one effect only."""
_NARROW_RATIO = 0.9
"""How often that is one that shows in a single metric."""
_FEW_RATIO = 0.45
"""Of those that show several, how many stop at each next one; the others show more."""
_NARROW = frozenset({
    "corrected_errors", "hot_memory", "scrubbing", "leaking_card", "leaking_memory",
    "pcie_replays", "narrow_pcie", "nvlink_errors", "symbol_errors", "slow_reading",
    "slow_writing", "narrow_nic",
})  # fmt: skip
_NO_FAULT_ALONE = frozenset({"restless_kernel", "foreign_writing"})
"""What any program on a host does, and slows nobody."""
_FLAG_RATIO = {Loudness.LOUD: 0.3, Loudness.QUIET: 0.08, Loudness.HIDDEN: 0.0}
_AT_ONCE_RATIO = 0.25
_TORN_DOWN_RATIO = 0.5
"""How often a crash is heard of, and the others need not wait for their time-out."""
_EXIT_CODES = (1, 1, 1, 134, -6, -9, -11)


def completed(plan: FaultPlan) -> FaultPlan:
    """The plan with symptoms, drawn from what it says where it names none.

    Raises UnknownFaultError when its kind, its strength or an effect cannot be.
    """
    kind = kind_of(plan.kind)
    if not 0.0 < plan.strength <= 1.0:
        raise UnknownFaultError(
            f"fault {plan.kind}: strength = {plan.strength}: must be above 0 and at most 1"
        )
    if plan.symptoms:
        _check(plan, kind)
        return plan
    rng = np.random.default_rng(crc32(repr((plan.kind, plan.node, plan.gpu, plan.onset)).encode()))
    symptoms = draw_symptoms(kind, plan.strength, plan.loudness, rng)
    stop = plan.stop or draw_stop(kind, plan.onset, plan.onset + 60, rng)
    return replace(plan, symptoms=symptoms, stop=stop)


def draw_symptoms(
    kind: FaultKind, strength: float, loudness: Loudness, rng: np.random.Generator
) -> tuple[Symptom, ...]:
    """A non-empty random subset of the effects, each about as strong as asked for."""
    names = list(kind.effects)
    chosen = _chosen(names, rng)
    if kind.flags and rng.random() < _FLAG_RATIO[loudness]:
        chosen.append(list(kind.flags)[int(rng.integers(len(kind.flags)))])
    spread = rng.uniform(0.8, 1.25, len(chosen)) if len(names) > 1 else np.ones(1)
    return tuple(
        Symptom(name, min(1.0, strength * factor))
        for name, factor in zip(chosen, spread.tolist(), strict=True)
    )


def _chosen(names: list[str], rng: np.random.Generator) -> list[str]:
    if rng.random() < _ALONE_RATIO:
        narrow = [name for name in names if name in _NARROW]
        faults = [name for name in names if name not in _NO_FAULT_ALONE]
        among = narrow if narrow and rng.random() < _NARROW_RATIO else faults
        return [among[int(rng.integers(len(among)))]]
    number = min(len(names), 1 + int(rng.geometric(_FEW_RATIO)))
    return [names[at] for at in sorted(rng.permutation(len(names))[:number].tolist())]


def draw_stop(kind: FaultKind, onset: int, latest: int, rng: np.random.Generator) -> Stop | None:
    """How it becomes fatal, at `latest`; None where it does not."""
    if rng.random() >= kind.stop_ratio:
        return None
    how = kind.stops[int(rng.integers(len(kind.stops)))]
    wait = 0 if rng.random() < _AT_ONCE_RATIO else round(np.exp(rng.uniform(2.5, 5.7)))
    at = min(onset + wait, max(onset, latest))
    is_heard = how is StopKind.CRASH and rng.random() < _TORN_DOWN_RATIO
    patience = rng.uniform(8.0, 40.0) if is_heard else np.exp(rng.uniform(4.1, 6.2))
    aborts_at = at + round(patience)
    restarts = aborts_at + round(rng.uniform(20.0, 90.0)) if rng.random() < 0.5 else None
    code = _EXIT_CODES[int(rng.integers(len(_EXIT_CODES)))]
    return Stop(how, at, aborts_at, code, restarts)


def _check(plan: FaultPlan, kind: FaultKind) -> None:
    known = {**kind.effects, **kind.flags}
    for one in plan.symptoms:
        if one.effect not in known:
            raise UnknownFaultError(
                f"fault {plan.kind}: effect {one.effect!r}: known are {', '.join(sorted(known))}"
            )
