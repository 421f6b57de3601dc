"""The network takes any number of sequences, and what was not observed weighs nothing."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from paramedic.models.pattern.errors import ModelFitError
from paramedic.models.pattern.network import PatternNetwork
from paramedic.models.pattern.recent import Windows
from paramedic.models.pattern.settings import PatternSettings
from paramedic.models.pattern.surprise import Surprise, weights_of

SETTINGS = PatternSettings(hidden=4, latent=2)
NEWEST = SETTINGS.newest_slots // SETTINGS.patch_slots


def network() -> PatternNetwork:
    with torch.random.fork_rng():
        torch.manual_seed(3)
        return PatternNetwork(SETTINGS)


def inputs(sequences: int, seed: int = 1) -> list[Tensor]:
    dice = torch.Generator().manual_seed(seed)
    departure = torch.randn(sequences, 60, generator=dice)
    kind = torch.randint(0, 8, (sequences,), generator=dice)
    return [departure, torch.ones_like(departure), torch.ones_like(departure), kind]


def windows(departure: Tensor, observed: Tensor, activity: Tensor, kind: Tensor) -> Windows:
    return Windows(departure.numpy(), observed.numpy(), activity.numpy(), kind.numpy())


def test_a_sequence_is_read_the_same_alone_and_among_others() -> None:
    many = inputs(7)
    whole = network()(*many)
    alone = network()(*(one[4:5] for one in many))
    torch.testing.assert_close(whole[4:5], alone)


def test_what_stands_where_nothing_was_observed_does_not_count() -> None:
    departure, observed, activity, kind = inputs(2)
    observed[:, 20:30] = 0
    hidden = departure * observed
    quiet = network()(hidden, observed, activity, kind)
    encoded = hidden.clone()
    encoded[:, 25] = 0.0
    torch.testing.assert_close(quiet, network()(encoded, observed, activity, kind))


def test_a_wild_window_surprises_more_than_a_quiet_one() -> None:
    departure, observed, activity, kind = inputs(2)
    departure[1] *= 6
    kind[:] = 1
    calm, wild = network()(departure, observed, activity, kind)
    assert wild > calm + 1


def test_of_the_newest_slots_alone_what_is_over_surprises_no_more() -> None:
    departure, observed, activity, kind = inputs(2)
    kind[:] = 1
    departure[1] = departure[0]
    departure[1, 10:20] += 9
    before, over = network()(departure, observed, activity, kind)
    calm, ended = network()(departure, observed, activity, kind, newest_patches=NEWEST)
    assert ended - calm < (over - before) / 4


def test_noise_moves_the_explanation() -> None:
    given = inputs(3)
    noise = torch.ones(3, SETTINGS.latent)
    assert not torch.equal(network()(*given), network()(*given, noise))


def test_weights_kept_by_an_artifact_say_the_same() -> None:
    given = inputs(5)
    kept = Surprise(SETTINGS, weights_of(network()))
    with torch.no_grad():
        expected = network()(*given, newest_patches=NEWEST).numpy()
    np.testing.assert_allclose(kept.of(windows(*given), given[3].numpy()), expected, rtol=1e-5)


def test_windows_that_were_hardly_observed_say_nothing() -> None:
    given = inputs(2)
    given[1][0, 15:] = 0
    found = Surprise(SETTINGS, weights_of(network())).of(windows(*given), given[3].numpy())
    assert np.isnan(found).tolist() == [True, False]


def test_weights_of_another_size_are_refused() -> None:
    with pytest.raises(ModelFitError, match="weights do not fit"):
        Surprise(PatternSettings(hidden=6, latent=2), weights_of(network()))


def test_numpy_says_what_torch_says_of_holes_and_of_wild_windows_as_well() -> None:
    given = inputs(40)
    given[0] *= torch.linspace(0.1, 30, 40)[:, None]
    given[1][:, 7:29] = 0
    given[2] *= torch.linspace(0, 2, 60)
    kept = Surprise(SETTINGS, weights_of(network()))
    with torch.no_grad():
        expected = network()(*given, newest_patches=NEWEST).numpy()
    found = kept.of(windows(*given), given[3].numpy())
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-5)


def test_a_calm_window_is_told_as_the_network_tells_it() -> None:
    departure, observed, activity, kind = inputs(6)
    departure[:3] = 0
    activity[2, 50:] = 0.5
    kept = Surprise(SETTINGS, weights_of(network()))
    with torch.no_grad():
        asked = (departure, observed, activity, kind)
        expected = network()(*asked, newest_patches=NEWEST).numpy()
    found = kept.of(windows(departure, observed, activity, kind), kind.numpy())
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-5)
