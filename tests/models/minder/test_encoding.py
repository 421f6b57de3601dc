"""What machines are compared by."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from paramedic.models.minder.encoding import (
    ConcatenatedVae,
    Encoder,
    RawWindows,
    VaeForAll,
    VaePerMetric,
)
from paramedic.models.minder.fitting import FitSettings

FEW = FitSettings(epochs=1)


def windows(seed: int = 0) -> NDArray[np.float32]:
    """Two windows of three machines; the third metric was not observed at all."""
    drawn = np.random.default_rng(seed).random((2, 3, 7, 8), np.float32)
    drawn[:, :, 2] = np.nan
    return drawn


def trained(encoder: Encoder) -> Encoder:
    encoder.train(np.concatenate([windows(seed).reshape(-1, 7, 8) for seed in range(40)]))
    return encoder


def test_raw_windows_stay_as_they_are() -> None:
    made = torch.stack(list(RawWindows().encode(windows())), dim=2).numpy()
    np.testing.assert_array_equal(made, windows())


def test_each_metric_is_reconstructed_by_itself() -> None:
    encoder = trained(VaePerMetric(FEW))
    before = list(encoder.encode(windows()))
    other = windows()
    other[:, :, 5] = 0.5
    after = list(encoder.encode(other))
    assert [torch.equal(one, two) for one, two in zip(before, after, strict=True)] == [
        True, True, False, True, True, False, True
    ]  # fmt: skip
    assert bool(before[2].isnan().all())


@pytest.mark.parametrize("build", [VaeForAll, lambda few: ConcatenatedVae(VaePerMetric(few))])
def test_joined_metrics_are_one_vector_and_an_absent_metric_hides_nobody(build: object) -> None:
    encoder = trained(build(FEW))  # type: ignore[operator]
    seen = windows()
    seen[0, 1, 4, 3:] = np.nan
    (vectors,) = encoder.encode(seen)
    assert vectors.shape == (2, 3, 56)
    assert vectors.isnan().any(-1).tolist() == [[False, True, False], [False, False, False]]


def test_an_encoder_that_is_shared_is_trained_once() -> None:
    encoder = trained(VaePerMetric(FEW))
    before = [one.clone() for one in encoder.encode(windows())]
    encoder.train(np.full((50, 7, 8), 0.1, np.float32))
    assert all(
        torch.equal(one, two)
        for one, two in zip(before[3:], list(encoder.encode(windows()))[3:], strict=True)
    )
