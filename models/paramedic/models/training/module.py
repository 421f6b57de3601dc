"""The network as Lightning trains it: batches by seed and epoch, so that a resumed training draws
what an unbroken one would have drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from pytorch_lightning import LightningModule
from torch import Tensor
from torch.utils.data import DataLoader

from paramedic.models.pattern.network import PatternNetwork

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paramedic.models.training.fit_settings import FitSettings

HELD_OUT_LOSS = "held_out_loss"
_SMALLEST_PER_CENT = 10
_HELD_OUT_BATCH = 4096


class PatternModule(LightningModule):
    """Trains on sequences that are held in memory; batches are positions in them."""

    def __init__(
        self,
        settings: FitSettings,
        inputs: Sequence[Tensor],
        learning: Tensor,
        held_out: Tensor,
    ) -> None:
        """`inputs`: as the network takes them; `learning` and `held_out`: positions in them."""
        super().__init__()
        self.network = PatternNetwork(settings.pattern)
        self._settings = settings
        self._inputs, self._learning, self._held_out = tuple(inputs), learning, held_out

    def training_step(self, batch: Tensor, batch_idx: int) -> Tensor:
        """The mean surprise of a batch without its oddest windows."""
        dice = self._dice(1 + batch_idx)
        noise = torch.randn(len(batch), self._settings.pattern.latent, generator=dice)
        surprise = self.network(*self._taken(batch), noise.to(self.device))
        return self._trimmed(surprise).mean()

    def validation_step(self, batch: Tensor, batch_idx: int) -> None:
        """The same of held-out jobs."""
        del batch_idx
        loss = self._trimmed(self.network(*self._taken(batch))).mean()
        self.log(HELD_OUT_LOSS, loss, batch_size=len(batch), on_epoch=True, prog_bar=False)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Adam."""
        return torch.optim.Adam(self.network.parameters(), lr=self._settings.learning_rate)

    def train_dataloader(self) -> DataLoader[Tensor]:
        """The epoch's batches, shuffled; made anew every epoch."""
        order = torch.randperm(len(self._learning), generator=self._dice(0))
        return _loader(self._learning[order], self._settings.batch)

    def val_dataloader(self) -> DataLoader[Tensor]:
        """Held-out batches, always the same."""
        return _loader(self._held_out, _HELD_OUT_BATCH)

    def _taken(self, batch: Tensor) -> list[Tensor]:
        return [one[batch.cpu()].to(self.device) for one in self._inputs]

    def _trimmed(self, surprise: Tensor) -> Tensor:
        kept = max(1, round(len(surprise) * (1 - self._settings.trimmed_share)))
        return surprise.sort().values[:kept]

    def _dice(self, use: int) -> torch.Generator:
        seed = self._settings.seed * 1_000_003 + self.current_epoch
        return torch.Generator().manual_seed(seed * 100_003 + use)


def _loader(positions: Tensor, batch: int) -> DataLoader[Tensor]:
    batches: list[Tensor] = list(positions.split(batch))
    return DataLoader(batches, batch_size=None)  # type: ignore[arg-type]
