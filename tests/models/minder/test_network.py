"""The network and its fit."""

from __future__ import annotations

import math

import pytest
import torch

from paramedic.models.minder.fitting import FitSettings, error_of, fit
from paramedic.models.minder.network import HIDDEN, LATENT, LstmVae


def waves(windows: int, features: int = 1) -> torch.Tensor:
    """Slow swings of one amplitude and any phase; (8, features, windows)."""
    draw = torch.Generator().manual_seed(1)
    phase = torch.rand(1, features, windows, generator=draw) * 2 * math.pi
    return 0.5 + 0.1 * torch.sin(torch.arange(8.0).reshape(8, 1, 1) / 3 + phase)


def test_the_network_has_the_papers_sizes() -> None:
    network = LstmVae(1, seed=0)
    assert (HIDDEN, LATENT) == (4, 8)
    assert network.encoder.recurrent.weight.shape == (4 * HIDDEN, HIDDEN)
    assert network.decoder.inputs.weight.shape == (4 * HIDDEN, LATENT)


def test_the_encoder_is_the_lstm_that_everybody_knows() -> None:
    network, theirs = LstmVae(2, seed=3), torch.nn.LSTM(2, HIDDEN)
    ours = network.encoder
    # Ours keeps the output gate before the candidate.
    order = torch.cat([torch.arange(8), torch.arange(12, 16), torch.arange(8, 12)])
    with torch.no_grad():
        theirs.load_state_dict(
            {
                "weight_ih_l0": ours.inputs.weight[order],
                "weight_hh_l0": ours.recurrent.weight[order],
                "bias_ih_l0": ours.inputs.bias[order, 0],
                "bias_hh_l0": ours.recurrent.bias[order, 0],
            }
        )
        windows = torch.rand(8, 2, 5, generator=torch.Generator().manual_seed(0))
        expected, _ = theirs(windows.transpose(1, 2))
        *_, last = ours.states(windows.unbind(0))
    torch.testing.assert_close(last, expected[-1].T)


@pytest.mark.long
def test_a_fit_comes_near_what_it_is_shown() -> None:
    windows = waves(600)
    network = fit(windows, FitSettings(epochs=10, batch=32))
    only_the_mean = float((windows - windows.mean(dim=0)).square().mean())
    assert error_of(network, windows) < 0.7 * only_the_mean


def test_one_seed_gives_one_network() -> None:
    windows = waves(300)
    first, again = (fit(windows, FitSettings(epochs=1)).state_dict() for _ in range(2))
    other = fit(windows, FitSettings(epochs=1, seed=1)).state_dict()
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["output.weight"], other["output.weight"])


def test_a_metric_that_never_moves_is_learnt_as_it_is() -> None:
    still = torch.full((8, 1, 400), 0.99)
    assert error_of(fit(still, FitSettings(epochs=2)), still) == pytest.approx(0.0, abs=1e-5)
