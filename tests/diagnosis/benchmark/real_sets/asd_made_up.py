"""A made-up ASD: few servers on one clock, few metrics, short days."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SERVERS, METRICS, PAST, LABELLED = 5, 3, 900, 200
FIELDS = (
    "machine", "start", "end", "length", "metrics", "type", "other_machines_labelled",
    "event_class", "half",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class MadeUpRun:
    """A server that deviates."""

    server: int
    first: int
    end: int
    event_class: str = "solo"


RUNS = (MadeUpRun(2, 40, 60), MadeUpRun(4, 90, 110, "few"), MadeUpRun(1, 91, 108, "few"))
SHARED = MadeUpRun(1, 150, 160, "shared")


def write_asd(folder: Path, runs: tuple[MadeUpRun, ...] = RUNS, depth: float = 25.0) -> Path:
    """Write it as the real one is written; `depth` is how far deviating servers lie off."""
    random = np.random.default_rng(3)
    slots = PAST + LABELLED
    load = 50 + 20 * np.sin(np.arange(slots) * 2 * np.pi / 48) + random.normal(0, 4, slots)
    own_level = random.uniform(-5, 5, (SERVERS, 1, METRICS))
    noise = random.normal(0, 1.5, (SERVERS, slots, METRICS))
    values = load[None, :, None] * random.uniform(0.8, 1.2, (SERVERS, 1, METRICS))
    values = values + own_level + noise
    labels = np.zeros((SERVERS, LABELLED), np.int8)
    for run in runs:
        values[run.server, PAST + run.first : PAST + run.end, 0] -= depth
        labels[run.server, run.first : run.end] = 1
    values[:, PAST + SHARED.first : PAST + SHARED.end] += 15
    labels[:, SHARED.first : SHARED.end] = 1
    _save(folder, values.round().astype(np.int16), labels)
    _save_segments(folder, (*runs, SHARED))
    return folder


def _save(folder: Path, values: np.ndarray, labels: np.ndarray) -> None:
    arrays: dict[str, np.ndarray] = {}
    for server in range(SERVERS):
        begins = 200 if server == SERVERS - 1 else 0
        arrays[f"omi-{server + 1}/train"] = values[server, begins:PAST]
        arrays[f"omi-{server + 1}/test"] = values[server, PAST:]
        arrays[f"omi-{server + 1}/label"] = labels[server]
    np.savez(folder / "asd_dev.npz", allow_pickle=False, **arrays)


def _save_segments(folder: Path, runs: tuple[MadeUpRun, ...]) -> None:
    with (folder / "asd_dev_segments.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, restval="")
        writer.writeheader()
        for run in runs:
            writer.writerow(
                {
                    "machine": f"omi-{run.server + 1}",
                    "start": run.first,
                    "end": run.end,
                    "event_class": run.event_class,
                }
            )
