"""Small models for the tests of the registry and of its verbs."""

from __future__ import annotations

import numpy as np

from paramedic.models.pattern.artifact import PatternArtifact
from paramedic.models.registry.manifest import Manifest, TrainedOn

METRICS = ("gpu_power_watts", "gpu_tensor_active_ratio")
AT = "2026-01-01T00:00:00Z"


def artifact_of(seed: int = 0, metrics: tuple[str, ...] = METRICS) -> PatternArtifact:
    """A model with a few numbers in it."""
    random = np.random.default_rng(seed)
    return PatternArtifact(
        settings={"hidden": 4, "trim": 0.1, "peers": "role"},
        tensors={
            "encoder.weight": random.normal(size=(3, 4)).astype(np.float32),
            "calibration": random.normal(size=5).astype(np.float32),
        },
        metrics=metrics,
        fingerprint={
            name: {"input_q05": -1.0, "input_q50": 0.0, "input_q95": 1.0, "score_q50": 0.7}
            for name in metrics
        },
    )


def manifest_of(name: str = "small") -> Manifest:
    """What is said of it."""
    return Manifest(
        name=name,
        created=AT,
        code_version="0.1.0",
        catalogue_version="0123456789ab",
        scores={"validation_loss": 0.25},
        trained_on=(TrainedOn("job-a", 1_800_000_000, 600, "ab" * 32),),
    )
