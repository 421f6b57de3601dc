"""What Minder costs at the size of a large job, and beside it what our pattern model costs.

    python benchmarks/detection_cost.py --nodes 1500

Minder looks at seven metrics of each machine: networks, distances between all pairs of machines and
z-scores of the windows that one second closes. A pull looks at fifteen minutes of them. Our model
looks at every metric of every GPU (`pattern_cost.py`, started from here). One thread each. Values
are made up and networks hardly trained, which costs what real ones cost. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from paramedic.models.minder.alignment import WINDOW, Aligned
from paramedic.models.minder.candidates import find_candidates
from paramedic.models.minder.detector import PULL_SECONDS
from paramedic.models.minder.dissimilarity import Distance
from paramedic.models.minder.encoding import VaePerMetric
from paramedic.models.minder.fitting import FitSettings
from paramedic.models.minder.metrics import SEVEN

_SECONDS = 10
_REPEATS = 5


def minder(nodes: int) -> dict[str, float]:
    """Processor seconds of the windows that a second closes, the middle of a few measurements."""
    dice = np.random.default_rng(0)
    shape = (_SECONDS + WINDOW - 1, nodes, len(SEVEN))
    values = np.clip(dice.normal(0.5, 0.05, shape), 0.0, 1.0).astype(np.float32)
    encoder = VaePerMetric(FitSettings(epochs=1))
    encoder.train(dice.random((512, len(SEVEN), WINDOW), np.float32))
    taken = [_spent(values, encoder) for _ in range(_REPEATS)]
    middle = float(np.median(taken)) / _SECONDS
    series = nodes * len(SEVEN)
    return {
        "series": series,
        "seconds_median": round(middle, 4),
        "seconds_worst": round(max(taken) / _SECONDS, 4),
        "microseconds_a_series": round(1e6 * middle / series, 3),
        "seconds_a_pull": round(middle * (PULL_SECONDS - WINDOW + 1), 1),
    }


def _spent(values: NDArray[np.float32], encoder: VaePerMetric) -> float:
    begun = time.process_time()
    find_candidates(Aligned.of(values), encoder, Distance.EUCLIDEAN)
    return time.process_time() - begun


def ours(asked: argparse.Namespace) -> dict[str, float]:
    """What `pattern_cost.py` measures, in a process of its own."""
    flags = [
        word
        for name in ("nodes", "gpus", "metrics", "suspects")
        for word in (f"--{name}", str(getattr(asked, name)))
    ]
    script = Path(__file__).with_name("pattern_cost.py")
    done = subprocess.run(
        [sys.executable, str(script), *flags], check=True, capture_output=True, text=True
    )
    answer: dict[str, float] = json.loads(done.stdout)
    return answer


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Cost of Minder and of ours for one second")
    parser.add_argument("--nodes", type=int, default=1500)
    parser.add_argument("--gpus", type=int, default=8, help="of a node; ours looks at each")
    parser.add_argument("--metrics", type=int, default=20, help="of a GPU; Minder has its seven")
    parser.add_argument("--suspects", type=float, default=0.05, help="share of departing cells")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    found = {"nodes": asked.nodes, "minder": minder(asked.nodes), "paramedic": ours(asked)}
    sys.stdout.write(json.dumps(found) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
