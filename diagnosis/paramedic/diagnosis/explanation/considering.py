"""What else was considered when a verdict was decided, and how far each was from being decided."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paramedic.diagnosis.contract import Verdict
    from paramedic.diagnosis.explanation.standing import Inspected, Standing

_OTHERS = 3
"""Candidates of whom the strongest evidence is told."""


def considered(verdict: Verdict, inspected: Inspected) -> tuple[Standing, ...]:
    """All evidence about the machine that was named, and the strongest against the others."""
    named = verdict.members if verdict.node is None else (verdict.node,)
    others = [one.node for one in verdict.candidates if one.node not in named][:_OTHERS]
    own = (one for node in named[:1] for one in inspected.standing(node))
    against_others = (one for node in others for one in _strongest(inspected.standing(node)))
    return (*own, *against_others)


def _strongest(standings: tuple[Standing, ...]) -> Iterator[Standing]:
    """One at most; nothing where nothing speaks against it."""
    strongest = max(standings, key=lambda one: one.share, default=None)
    if strongest is not None and strongest.share > 0:
        yield strongest
