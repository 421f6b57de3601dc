"""The LSTM-VAE: how surprising a minute of one metric of one row is, given what the job does.

It reads departures from the peers in patches of some slots, with the mask of what was observed and
the job's activity beside them, and what kind of metric it is. Its evidence bound is the measure:
what the best explanation leaves unexplained, and how unusual that explanation is. One set of
weights serves every metric, row and number of machines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from paramedic.models.pattern.panels import KINDS

if TYPE_CHECKING:
    from paramedic.models.pattern.settings import PatternSettings

_CHANNELS = 3
LOWEST_LOG_SCALE, HIGHEST_LOG_SCALE = -3.0, 1.5
MOST_LOG_VARIANCE = 4.0


class PatternNetwork(nn.Module):
    """Encoder, latent normal variable, decoder."""

    def __init__(self, settings: PatternSettings) -> None:
        super().__init__()
        self._slots, self._patch = settings.window_slots, settings.patch_slots
        self._latent = settings.latent
        width = settings.hidden
        self.kind = nn.Embedding(KINDS, settings.embedding)
        patch = self._patch
        self.encoder = nn.LSTM(_CHANNELS * patch + settings.embedding, width, batch_first=True)
        self.posterior = nn.Linear(width, 2 * settings.latent)
        self.decoder = nn.LSTM(
            settings.latent + patch + settings.embedding, width, batch_first=True
        )
        self.likelihood = nn.Linear(width, 2 * patch)

    def forward(
        self, departure: Tensor, observed: Tensor, activity: Tensor, kind: Tensor,
        noise: Tensor | None = None, newest_patches: int | None = None,
    ) -> Tensor:  # fmt: skip
        """Nats a slot by which each window surprises, (sequences,); inputs (sequences, slots).

        `newest_patches`: only those are asked about, and the rest is what is known before.

        `noise`: (sequences, latent) standard normal, in training; without it the explanation is the
        posterior's mean. Slots that were not observed weigh nothing.
        """
        about = self.kind(kind)[:, None].expand(-1, self._slots // self._patch, -1)
        patches = [self._patches(one) for one in (departure, observed, activity)]
        _, (last, _) = self.encoder(torch.cat([*patches, about], dim=2))
        mean, log_variance = self.posterior(last[-1]).chunk(2, dim=1)
        log_variance = log_variance.clamp(-2 * MOST_LOG_VARIANCE, MOST_LOG_VARIANCE)
        latent = mean if noise is None else mean + noise * (log_variance / 2).exp()
        middle, log_scale = self._decoded(latent, patches[2], about)
        error = (patches[0] - middle) * (-log_scale).exp()
        surprise = (error**2 / 2 + log_scale) * patches[1]
        newest = slice(-newest_patches if newest_patches else None, None)
        seen = patches[1][:, newest].sum(dim=(1, 2)).clamp(min=1.0)
        distance = (mean**2 + log_variance.exp() - 1 - log_variance).sum(dim=1) / 2
        total: Tensor = surprise[:, newest].sum(dim=(1, 2)) / seen + distance / self._slots
        return total

    def _patches(self, slots: Tensor) -> Tensor:
        return slots.view(len(slots), -1, self._patch)

    def _decoded(self, latent: Tensor, activity: Tensor, about: Tensor) -> tuple[Tensor, Tensor]:
        repeated = latent[:, None].expand(-1, activity.shape[1], -1)
        steps, _ = self.decoder(torch.cat([repeated, activity, about], dim=2))
        middle, log_scale = self.likelihood(steps).chunk(2, dim=2)
        return middle, log_scale.clamp(LOWEST_LOG_SCALE, HIGHEST_LOG_SCALE)
