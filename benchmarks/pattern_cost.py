"""What the pattern model costs: one second of a large job, scored as a live job is.

    python benchmarks/pattern_cost.py --nodes 1500 --gpus 8 --metrics 20 --suspects 0.05

Prints one JSON object: seconds a slot on one core, median and worst, once windows are full. The
values are made up: noise around a level, with so large a share of the cells departing. Weights are
random, which costs what trained ones cost.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

import numpy as np
import torch

from paramedic.ingest.contract import Entity, EntityKey, JobName, NodeName, Window
from paramedic.models.pattern.artifact import PatternArtifact
from paramedic.models.pattern.calibration import LINES, CalibrationCounter
from paramedic.models.pattern.evidence import EvidenceStream
from paramedic.models.pattern.network import PatternNetwork
from paramedic.models.pattern.panels import panels_of
from paramedic.models.pattern.scorer import PatternReader
from paramedic.models.pattern.settings import PatternSettings
from paramedic.models.pattern.surprise import weights_of

_WARM_UP_SLOTS = 12
_SLOTS = 24


def window(rows: tuple[EntityKey, ...], metrics: int, suspects: float, second: int) -> Window:
    """A slot of all rows; the same rows and metrics depart in every slot."""
    dice = np.random.default_rng(second)
    values = 500.0 + 10.0 * dice.standard_normal((len(rows), metrics, 1))
    departing = np.random.default_rng(0).random((len(rows), metrics, 1)) < suspects
    values = np.where(departing & (second >= _WARM_UP_SLOTS // 2), values - 60.0, values)
    names = tuple(f"gpu_made_up_{at}_watts" for at in range(metrics))
    seen = np.ones(values.shape, np.bool_)
    return Window(JobName("large"), 0, Entity.GPU, second, rows, names, values, seen)


def artifact(first: Window, settings: PatternSettings) -> PatternArtifact:
    """Random weights, and tables of a normal distribution."""
    counter = CalibrationCounter(len(settings.paces))
    dice = np.random.default_rng(1)
    for panel in panels_of({Entity.GPU: first}, None, use_roles=True):
        lines = counter.lines(panel)
        for _ in range(3):
            noise = dice.standard_normal((len(settings.paces), len(panel.metrics), 2000))
            counter.count_paced(panel, noise)
            counter.count_surprise(lines[:, None], noise[0])
    tensors = {**weights_of(PatternNetwork(settings)), **counter.tensors(settings.most_nats)}
    return PatternArtifact({LINES: " ".join(counter.names)}, tensors, first.metrics)


def measure(nodes: int, gpus: int, metrics: int, suspects: float) -> dict[str, float]:
    """Seconds a slot."""
    names = [NodeName(f"node-{at:05d}") for at in range(nodes)]
    rows = tuple(EntityKey(Entity.GPU, node, gpu) for node in names for gpu in range(gpus))
    settings = PatternSettings()
    first = window(rows, metrics, suspects, 0)
    reader = PatternReader(artifact(first, settings), settings)
    scorer = reader.scorer({Entity.GPU: first}, None)
    evidence = EvidenceStream(scorer.panels, names, settings)
    taken = []
    for second in range(_WARM_UP_SLOTS + _SLOTS):
        now = {Entity.GPU: window(rows, metrics, suspects, second)}
        begun = time.process_time()
        evidence.advance(scorer.advance(now, slice(-1, None)))
        taken.append(time.process_time() - begun)
    counted = taken[_WARM_UP_SLOTS:]
    series = nodes * gpus * metrics
    middle = float(np.median(counted))
    return {
        "series": series,
        "seconds_median": round(middle, 4),
        "seconds_worst": round(max(counted), 4),
        "microseconds_a_series": round(1e6 * middle / series, 3),
    }


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Cost of the pattern model for one second")
    parser.add_argument("--nodes", type=int, default=1500)
    parser.add_argument("--gpus", type=int, default=8)
    parser.add_argument("--metrics", type=int, default=20)
    parser.add_argument("--suspects", type=float, default=0.05)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    found = measure(asked.nodes, asked.gpus, asked.metrics, asked.suspects)
    sys.stdout.write(json.dumps({**vars(asked), **found}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
