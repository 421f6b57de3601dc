"""Machines whose fault is known: signatures of the synthetic cluster's, and of recordings'."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from paramedic.diagnosis.contract import Fault
from paramedic.diagnosis.family.knowledge import Knowledge
from paramedic.diagnosis.family.measuring import Stretch, measured
from paramedic.diagnosis.family.reading import shipped_knowledge
from paramedic.diagnosis.family.signature import Signature
from paramedic.diagnosis.family.symptoms import seen
from paramedic.diagnosis.machines import KINDS
from paramedic.ingest.contract import Entity, NodeName, Window
from paramedic.ingest.synthetic.episodes.drawing import draw_fault_episodes
from paramedic.ingest.synthetic.episodes.living import live
from paramedic.ingest.synthetic.episodes.plan import EpisodePlan, Split
from paramedic.ingest.windows.configuration import WindowConfig
from paramedic.models.histories.recorded import history_of

PAST_SECONDS = 52
AFTER_SECONDS = (18, 35, 60)
"""A verdict comes so long after the onset."""
LEAST_SECONDS = 8
"""Symptoms that a machine shows for a shorter time are those of its stop."""
ENDS_ARE_TELLING = ("machine_unreachable", "gpu_card_drop")
MOST_RANKS = 96
FOUND = 0.5
"""Where no symptom is seen so surely, nobody would have been accused."""


@dataclass(frozen=True, slots=True)
class Case:
    """A machine whose fault is known."""

    name: str
    fault: Fault
    seconds: int
    """Since the onset."""
    has_ended: bool
    """Its stop hides what it stopped of; other tiers name a process that ended or hangs."""
    signature: Signature


def synthetic_cases(split: Split, episodes: int, seed: int) -> Iterator[Case]:
    """Of the split's faults at one machine, around their onset."""
    for at, plan in enumerate(draw_fault_episodes(split, episodes, seed)):
        shape, faults = plan.cluster.shape, plan.cluster.faults
        if shape.nodes * shape.gpus <= MOST_RANKS and len(faults) == 1:
            yield from _cases(plan)
        if at % 20 == 0:
            sys.stderr.write(f"{split}: {at} of {episodes} episodes\n")


def _cases(plan: EpisodePlan) -> Iterator[Case]:
    plan = _sooner(plan)
    lived = live(plan)
    label = lived.labels[0]
    if label.is_group:
        return
    for after in AFTER_SECONDS:
        until, stop = label.onset + after, label.stopped_at
        has_ended = stop is not None and until >= stop and label.kind not in ENDS_ARE_TELLING
        if stop is not None and has_ended and stop - label.onset > LEAST_SECONDS:
            until, has_ended = stop - 1, False
        signature = _signature(lived.windows, label.nodes[0], Stretch(label.onset, until))
        yield Case(plan.name, Fault(label.kind), until - label.onset, has_ended, signature)


def _sooner(plan: EpisodePlan) -> EpisodePlan:
    """The same episode, in which the fault begins soon after what is seen of the job begins."""
    fault, first = plan.cluster.faults[0], max(plan.first, fault_free_seconds(plan))
    by = fault.onset - first - PAST_SECONDS
    stop = fault.stop
    if stop is not None:
        restarts = None if stop.restarts_at is None else stop.restarts_at - by
        stop = replace(stop, at=stop.at - by, aborts_at=stop.aborts_at - by, restarts_at=restarts)
    end = None if fault.end is None else fault.end - by
    moved = replace(fault, onset=fault.onset - by, end=end, stop=stop)
    return replace(
        plan,
        first=first,
        seconds=PAST_SECONDS + max(AFTER_SECONDS) + 2,
        cluster=replace(plan.cluster, faults=(moved,)),
    )


def fault_free_seconds(plan: EpisodePlan) -> int:
    """Long enough for a job to be at its pace, for episodes that begin with the job's start."""
    return 0 if plan.first else plan.cluster.faults[0].onset - PAST_SECONDS


def _signature(windows: Mapping[Entity, Window], node: NodeName, stretch: Stretch) -> Signature:
    """As an accusation measures it: from what a live job's windows then hold of cards and hosts."""
    held = {kind: _held(windows[kind], stretch.until) for kind in KINDS if kind in windows}
    return measured(held, (), node, stretch)


def _held(window: Window, until: int) -> Window:
    width = window.slot_seconds
    beyond = (until + 1 - window.first_second) // width
    first = max(0, beyond - WindowConfig(sampling_seconds=width).slots)
    return replace(
        window,
        first_second=window.first_second + first * width,
        values=window.values[:, :, first:beyond],
        observed=window.observed[:, :, first:beyond],
    )


def is_found(case: Case, knowledge: Knowledge) -> bool:
    """Whether the machine shows anything."""
    return float(np.nanmax(seen(case.signature, knowledge.symptoms))) >= FOUND


def recorded_cases(folder: Path) -> Iterator[Case]:
    """Of recordings with a `truth.json` beside them, those with one fault of one machine."""
    for truth_file in sorted(folder.glob("*/truth.json")):
        truth = json.loads(truth_file.read_text())
        faults = [one for one in truth["faults"] if not one["group"] and len(one["nodes"]) == 1]
        is_one = len(faults) == len(truth["faults"]) == 1
        if is_one and Fault(faults[0]["fault"]) in shipped_knowledge().faults:
            yield from _recorded(truth_file.parent, faults[0])


def _recorded(folder: Path, truth: Mapping[str, Any]) -> Iterator[Case]:
    history, onset = history_of(folder), int(truth["onset"])
    halt = truth["halted_at"] and int(truth["halted_at"])
    for after in AFTER_SECONDS:
        until, fault = onset + after, Fault(truth["fault"])
        has_ended = halt is not None and until >= halt and fault.value not in ENDS_ARE_TELLING
        if halt is not None and has_ended and halt - onset > LEAST_SECONDS:
            until, has_ended = halt - 1, False
        signature = _signature(history.windows, truth["nodes"][0], Stretch(onset, until))
        yield Case(folder.name, fault, until - onset, has_ended, signature)
