"""The digest of a model tells models apart by what they say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from paramedic.models.pattern.artifact import PatternArtifact

_MODEL = PatternArtifact(
    settings={"hidden": 4, "name": "small"},
    tensors={"a": np.arange(6, dtype=np.float32), "b": np.ones((2, 3), np.float32)},
    metrics=("gpu_power_watts",),
)


def test_equal_models_have_one_digest_in_whatever_order_they_were_put_together() -> None:
    other = replace(
        _MODEL,
        settings=dict(reversed(list(_MODEL.settings.items()))),
        tensors=dict(reversed(list(_MODEL.tensors.items()))),
    )

    assert other.digest() == _MODEL.digest()


def test_a_weight_a_shape_a_setting_and_a_metric_change_the_digest() -> None:
    tensors = _MODEL.tensors
    others = [
        replace(_MODEL, tensors={**tensors, "a": tensors["a"] + np.float32(1e-6)}),
        replace(_MODEL, tensors={**tensors, "b": tensors["b"].reshape(3, 2)}),
        replace(_MODEL, settings={**_MODEL.settings, "hidden": 8}),
        replace(_MODEL, metrics=("gpu_power_watts", "load_average")),
    ]

    assert len({one.digest() for one in [_MODEL, *others]}) == 5


def test_fingerprint_and_scores_of_training_are_no_part_of_what_a_model_says() -> None:
    told = replace(
        _MODEL,
        fingerprint={"gpu_power_watts": {"input_q50": 0.1}},
        scores={"held_out_loss_nats": 0.1},
    )

    assert told.digest() == _MODEL.digest()
