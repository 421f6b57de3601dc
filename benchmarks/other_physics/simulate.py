"""Writes recordings of training jobs from a simulation of their steps, with the truth beside them.

    python benchmarks/other_physics/simulate.py --out DIR --episodes 60 --seed 1 [--kind single]

Without `--kind` the episodes are a mixture of all kinds. Progress goes to standard error.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.other_physics.episode import make_episode
from benchmarks.other_physics.plan import EpisodeKind
from benchmarks.other_physics.recording import write_recording

_MIXTURE = (
    *(EpisodeKind.SINGLE,) * 6,
    *(EpisodeKind.HEALTHY,) * 4,
    *(EpisodeKind.FAILSTOP,) * 2,
    *(EpisodeKind.SEVERAL,) * 2,
    *(EpisodeKind.SMALL,) * 2,
    EpisodeKind.GROUP,
    EpisodeKind.CADENCE5,
    EpisodeKind.CADENCE15,
    EpisodeKind.CADENCE30,
)


@dataclass(frozen=True, slots=True)
class Order:
    """One episode to be made."""

    kind: EpisodeKind
    seed: int
    folder: Path
    largest: int


def orders(
    out: Path, episodes: int, seed: int, kind: str | None = None, largest: int = 128
) -> list[Order]:
    """Episodes of one kind, or of a mixture of all."""
    made = []
    for number in range(episodes):
        its_kind = EpisodeKind(kind) if kind else _MIXTURE[number % len(_MIXTURE)]
        folder = out / f"{number:04d}-{its_kind.value}"
        made.append(Order(its_kind, seed * 100_000 + number, folder, largest))
    return made


def make(order: Order) -> str:
    """Make one episode; returns a line about it."""
    begun = time.process_time()
    episode = make_episode(order.kind, order.seed, order.largest)
    write_recording(episode, order.folder, order.seed)
    what = ", ".join(f"{one.kind} ({one.mechanism})" for one in episode.plan.faults) or "healthy"
    spent = time.process_time() - begun
    return f"{order.folder.name}: {episode.plan.job.name}: {what}; {spent:.1f} s"


def main(arguments: Sequence[str] | None = None) -> int:
    """Make all episodes."""
    parser = argparse.ArgumentParser(description="Recordings of simulated training jobs")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--episodes", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=[kind.value for kind in EpisodeKind])
    parser.add_argument("--largest", type=int, default=128, help="nodes of the largest job")
    parser.add_argument("--processes", type=int, default=1)
    asked = parser.parse_args(arguments)
    todo = orders(asked.out, asked.episodes, asked.seed, asked.kind, asked.largest)
    if asked.processes == 1:
        for order in todo:
            sys.stderr.write(make(order) + "\n")
        return 0
    with ProcessPoolExecutor(asked.processes) as pool:
        for line in pool.map(make, todo):
            sys.stderr.write(line + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
