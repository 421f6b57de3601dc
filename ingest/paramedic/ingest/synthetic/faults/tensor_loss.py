"""A GPU whose tensor cores do only a part of the matrix work."""

from __future__ import annotations

from paramedic.ingest.synthetic.causes import Causes
from paramedic.ingest.synthetic.faults.place import Cards


def tensor_loss(causes: Causes, cards: Cards, strength: float, age_seconds: int) -> None:
    """At once and for good: the share falls back to the slower pipes, so the step takes longer.

    Averaged over a step the tensor cores of a synchronous job are equally busy on every machine,
    however slow one of them is; only work that leaves them makes one machine's share smaller.
    """
    del age_seconds
    causes.tensor_share[cards] *= 1.0 - strength
