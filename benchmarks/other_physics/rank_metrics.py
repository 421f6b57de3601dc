"""What the training processes tell of themselves, once a second."""

from __future__ import annotations

import numpy as np
from benchmarks.other_physics.job import Floats, Job
from benchmarks.other_physics.steps import StepLog

_SAMPLES_A_RANK = 8


def rank_metrics(
    job: Job, log: StepLog, seconds: int, start: float, dice: np.random.Generator
) -> dict[str, Floats]:
    """Per metric, seconds × ranks: of the last step that each rank has finished."""
    at, ended = _last_step(log, seconds)
    columns = np.arange(job.ranks)[None]
    began = np.vstack([np.zeros((1, job.ranks)), ended[:-1]])
    quiet = np.where(at < 0, np.nan, 1.0)

    def of_step(values: Floats) -> Floats:
        noise = np.exp(dice.normal(0.0, 0.004, values.shape))
        return np.asarray((values * noise)[np.maximum(at, 0), columns] * quiet)

    step_seconds = of_step(ended - began)
    first = int(dice.integers(0, 200_000))
    loss = 2.5 + 4.0 / np.sqrt(1.0 + first / 500 + np.arange(len(ended)))
    return {
        "step": np.maximum(at + first, first).astype(np.float64),
        "step_seconds": step_seconds,
        "compute_seconds": of_step(np.array(log.computing)),
        "collective_seconds": of_step(np.array(log.in_collectives)),
        "dataloader_seconds": of_step(np.array(log.loading)),
        "samples_per_second": _SAMPLES_A_RANK / step_seconds,
        "loss": of_step(np.repeat(loss[:, None], job.ranks, axis=1)),
        "gradient_norm": of_step(
            np.full(ended.shape, 0.9) * np.exp(dice.normal(0, 0.1, ended.shape))
        ),
        "learning_rate": np.full(at.shape, 3e-4),
        "global_batch_size": np.full(at.shape, float(_SAMPLES_A_RANK * job.ranks)),
        "heartbeat": start + np.arange(seconds)[:, None] + dice.uniform(0.0, 0.9, (1, job.ranks)),
    }


def _last_step(
    log: StepLog, seconds: int
) -> tuple[np.ndarray[tuple[int, int], np.dtype[np.int64]], Floats]:
    """Per second and rank the index of the last finished step (-1: none), and all ends."""
    ended = np.array(log.ended)
    times = np.arange(seconds) + 1.0
    found = [np.searchsorted(ended[:, rank], times, side="right") for rank in range(ended.shape[1])]
    return np.stack(found, axis=1) - 1, ended
