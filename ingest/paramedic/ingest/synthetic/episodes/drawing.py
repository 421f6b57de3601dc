"""Draws the episodes of a split: seeded, so that everybody who asks gets the same.

An episode depends on split, seed and its place in the row; asking for more only adds to the end.
"""

from __future__ import annotations

import zlib
from dataclasses import replace

import numpy as np

from paramedic.ingest.synthetic.episodes.breakage import draw_faults, draw_switch_fault
from paramedic.ingest.synthetic.episodes.jobs import Job, draw_job, seed_of
from paramedic.ingest.synthetic.episodes.plan import EpisodePlan, Split

_LEAST_BEFORE_SECONDS = 300
_LEAST_AFTER_SECONDS = 300
_SECONDS = (720, 1201)
_PIECE_SECONDS = 1200
_PIECES_AN_HOUR = 3600 // _PIECE_SECONDS
_GROUP_RATIO = 0.07
_SEVERAL_RATIO = 0.12
_LEAST_NODES = {"one": 4, "several": 12, "group": 12}
_MISSING_RATIO = 0.3


def draw_fault_episodes(split: Split, count: int, seed: int) -> tuple[EpisodePlan, ...]:
    """So many episodes of 12 to 20 minutes in which something breaks after at least five."""
    return tuple(_fault_episode(split, at, _rng(split, "fault", seed, at)) for at in range(count))


def draw_healthy_episodes(split: Split, job_hours: int, seed: int) -> tuple[EpisodePlan, ...]:
    """So many hours of healthy jobs, each in pieces of 20 minutes, each piece a run of its own."""
    return tuple(
        piece
        for at in range(job_hours)
        for piece in _healthy_hour(split, at, _rng(split, "healthy", seed, at))
    )


def _fault_episode(split: Split, at: int, rng: np.random.Generator) -> EpisodePlan:
    what = rng.choice(("group", "several", "one"), p=(
        _GROUP_RATIO, _SEVERAL_RATIO, 1.0 - _GROUP_RATIO - _SEVERAL_RATIO))  # fmt: skip
    job = draw_job(split, seed_of(split, rng), rng, _LEAST_NODES[str(what)])
    shape = job.config.shape
    first = _first(job, rng)
    seconds = int(rng.integers(*_SECONDS))
    span = first + _LEAST_BEFORE_SECONDS, first + seconds - _LEAST_AFTER_SECONDS
    if what == "group":
        faults = draw_switch_fault(shape, span, rng)
    else:
        number = int(rng.integers(2, min(8, shape.nodes // 4) + 1)) if what == "several" else 1
        faults = draw_faults(split, shape, number, span, rng)
    return EpisodePlan(
        name=f"{split}-fault-{at:04d}",
        split=split,
        cluster=replace(job.config, faults=faults),
        first=first,
        seconds=seconds,
        missing_share=_missing_share(rng),
    )


def _healthy_hour(split: Split, at: int, rng: np.random.Generator) -> list[EpisodePlan]:
    job = draw_job(split, seed_of(split, rng), rng)
    missing = _missing_share(rng)
    return [
        EpisodePlan(
            name=f"{split}-healthy-{at:04d}-{piece}",
            split=split,
            cluster=replace(
                job.config,
                seed=seed_of(split, rng),
                first_second=job.config.first_second + 2 * piece * _PIECE_SECONDS,
            ),
            first=_first(job, rng),
            seconds=_PIECE_SECONDS,
            missing_share=missing,
        )
        for piece in range(_PIECES_AN_HOUR)
    ]


def _first(job: Job, rng: np.random.Generator) -> int:
    """Some episodes begin with the job's start, most while it trains."""
    return 0 if rng.random() < 0.1 else job.warm_seconds + int(rng.integers(200))


def _missing_share(rng: np.random.Generator) -> float:
    return float(rng.uniform(0.05, 0.3)) if rng.random() < _MISSING_RATIO else 0.0


def _rng(split: Split, what: str, seed: int, at: int) -> np.random.Generator:
    return np.random.default_rng((seed, zlib.crc32(f"{split}-{what}".encode()), at))
