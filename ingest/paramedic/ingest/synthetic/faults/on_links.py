"""Effects on the way from a node to the others: its network card, its cable, its switch."""

from __future__ import annotations

from paramedic.ingest.synthetic.causes import Causes
from paramedic.ingest.synthetic.faults.place import Cards

_FLAP_EVERY_SECONDS = 40
_FLAP_SECONDS = 3


def narrow_nic(causes: Causes, cards: Cards, strength: float, _age_seconds: int) -> None:
    """The network card does less: buffers fill, and it pauses whoever sends to it."""
    causes.nic_ratio[cards[0]] *= 0.76 * (1.0 - 0.8 * strength)


def crowded_fabric(causes: Causes, cards: Cards, strength: float, _age_seconds: int) -> None:
    """The switch leaves less bandwidth and marks packets."""
    causes.fabric_ratio[cards[0]] *= 1.0 - 0.7 * strength


def lost_segments(causes: Causes, cards: Cards, strength: float, _age_seconds: int) -> None:
    """Segments are lost and sent again."""
    causes.network_loss[cards[0]] += 25.0 * strength**1.5


def symbol_errors(causes: Causes, cards: Cards, strength: float, _age_seconds: int) -> None:
    """Light is weak: symbols are misread, forward error correction mends most."""
    causes.symbol_errors_per_second[cards[0]] += 30.0 * strength**2


def flapping_link(causes: Causes, cards: Cards, strength: float, age_seconds: int) -> None:
    """The link goes down for moments, more often where the fault is strong."""
    every = round(_FLAP_EVERY_SECONDS / max(strength, 0.1))
    if age_seconds % every == 0:
        causes.link_downs[cards[0]] += 1.0
    if age_seconds % every < _FLAP_SECONDS:
        causes.nic_ratio[cards[0]] *= 0.15
