"""What breaks in an episode: one machine mostly, sometimes several, sometimes a whole switch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from paramedic.ingest.contract import NodeName
from paramedic.ingest.synthetic.configuration import Shape
from paramedic.ingest.synthetic.episodes.plan import Split
from paramedic.ingest.synthetic.faults.catalogue import FAULTS, FaultKind
from paramedic.ingest.synthetic.faults.instance import draw_stop, draw_symptoms
from paramedic.ingest.synthetic.faults.plan import FaultPlan, Intermittence, Loudness
from paramedic.ingest.synthetic.layout import Layout
from paramedic.ingest.synthetic.randomness import Dice

TEST_ONLY = ("aoc_error", "host_contention")
"""Kinds that nobody learns from."""
_STRENGTHS = {
    Loudness.LOUD: (0.6, 1.0),
    Loudness.QUIET: (0.35, 0.6),
    Loudness.HIDDEN: (0.15, 0.35),
}
_LOUDNESS_RATIOS = (0.5, 0.45, 0.05)
"""Of the paper's faults most can be seen by eye in one metric at least; few of ours cannot."""
_LATEST_STOP_SECONDS = 300
_SPREAD_SECONDS = 45
"""Faults at several machines begin within so long."""


def draw_faults(
    split: Split, shape: Shape, number: int, span: tuple[int, int], rng: np.random.Generator
) -> tuple[FaultPlan, ...]:
    """So many faults at different machines, with onsets in the span."""
    layout = Layout(shape, Dice(0))
    nodes = [layout.nodes[n] for n in rng.permutation(shape.nodes)[:number].tolist()]
    onset = int(rng.integers(*span))
    name = _draw_kind(split, rng)
    is_alike = rng.random() < 0.5
    faults: list[FaultPlan] = []
    for node in nodes:
        kind = name if is_alike else _draw_kind(split, rng)
        one = draw_fault(kind, node, shape.gpus, onset, rng)
        faults.append(one if number == 1 else _beside_others(one, rng))
    return tuple(faults)


def draw_switch_fault(
    shape: Shape, span: tuple[int, int], rng: np.random.Generator
) -> tuple[FaultPlan, ...]:
    """A fault of one full switch."""
    layout = Layout(shape, Dice(0))
    full = [at for at in range(layout.switches) if (layout.switch == at).sum() >= 3]
    first = int(np.flatnonzero(layout.switch == full[int(rng.integers(len(full)))])[0])
    onset = int(rng.integers(*span))
    return (draw_fault("network_group", layout.nodes[first], shape.gpus, onset, rng),)


def draw_fault(
    name: str, node: NodeName, gpus: int, onset: int, rng: np.random.Generator
) -> FaultPlan:
    """One instance of the kind at the node."""
    kind = FAULTS[name]
    loudness = list(Loudness)[int(rng.choice(3, p=_LOUDNESS_RATIOS))]
    strength = float(rng.uniform(*_STRENGTHS[loudness]))
    is_whole = rng.random() < kind.whole_node_ratio
    plan = FaultPlan(
        kind=name,
        node=node,
        gpu=None if is_whole else int(rng.integers(gpus)),
        onset=onset,
        strength=strength,
        symptoms=draw_symptoms(kind, strength, loudness, rng),
        ramp_seconds=_ramp_seconds(rng),
        loudness=loudness,
    )
    return _ended(plan, kind, rng)


def _ended(plan: FaultPlan, kind: FaultKind, rng: np.random.Generator) -> FaultPlan:
    """With its end: fatal, over after a while, or lasting; some of those come and go."""
    stop = draw_stop(kind, plan.onset, plan.onset + _LATEST_STOP_SECONDS, rng)
    if stop is not None:
        return replace(plan, stop=stop, end=stop.restarts_at)
    is_short = rng.random() < 0.25
    end = plan.onset + int(rng.integers(150, 420)) if is_short else None
    comes_and_goes = rng.random() < 0.2
    pauses = Intermittence(int(rng.integers(12, 70)), float(rng.uniform(0.35, 0.8)))
    return replace(plan, end=end, intermittence=pauses if comes_and_goes else None)


def _beside_others(plan: FaultPlan, rng: np.random.Generator) -> FaultPlan:
    """Nobody stops the whole job, so that all of them can be seen."""
    onset = plan.onset + int(rng.integers(_SPREAD_SECONDS))
    return replace(plan, onset=onset, stop=None, end=None)


def _draw_kind(split: Split, rng: np.random.Generator) -> str:
    names = [
        name for name, kind in FAULTS.items()
        if kind.share > 0.0 and not kind.is_group
        and (split is Split.TEST or name not in TEST_ONLY)
    ]  # fmt: skip
    shares = np.array([FAULTS[name].share for name in names])
    return names[int(rng.choice(len(names), p=shares / shares.sum()))]


def _ramp_seconds(rng: np.random.Generator) -> int:
    choices: Sequence[tuple[int, int]] = ((0, 1), (0, 1), (3, 30), (3, 30), (30, 120))
    return int(rng.integers(*choices[int(rng.integers(len(choices)))]))
