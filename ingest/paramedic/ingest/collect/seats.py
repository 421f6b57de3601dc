"""Who sits where: the GPUs of a host, and what is known of each.

Two machines may bear one name, in two clusters or by mistake. They are told apart when different
origins name different jobs for one GPU at the same time: then the later one has a seat of its own,
as long as that lasts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from paramedic.ingest.collect.labels import Role
from paramedic.ingest.contract import JobName

_ANY_ORIGIN = ""


class Place(NamedTuple):
    """One GPU of a host."""

    gpu: int
    origin: str = _ANY_ORIGIN
    """Of the twin of another host; empty for the seat that all other origins speak of."""


@dataclass(slots=True)
class Seat:
    """What is known of one GPU."""

    labels: Mapping[str, str] = field(default_factory=dict)
    named: JobName | None = None
    """The job that the labels name."""
    named_by: str = _ANY_ORIGIN
    """The origin whose labels named a job last."""
    roles: Mapping[str, Role] = field(default_factory=dict)
    job: JobName | None = None
    """The job that it belongs to."""
    named_at: float = -math.inf
    """When labels last named a job (Unix seconds, like the rest)."""
    seen_at: float = -math.inf
    used_since: float = math.inf
    """Since when it has been in use without a break; never, while it is not."""


class Host:
    """The seats of one name."""

    def __init__(self) -> None:
        self._seats: dict[Place, Seat] = {}
        self.twins: set[str] = set()
        """The origins that speak of another machine of this name."""

    def items(self) -> Iterator[tuple[Place, Seat]]:
        """Every GPU with what is known of it."""
        yield from self._seats.items()

    def __len__(self) -> int:
        return len(self._seats)

    def __getitem__(self, place: Place) -> Seat:
        return self._seats[place]

    def seat(self, place: Place) -> Seat:
        """The seat at a place, a new one where there is none."""
        return self._seats.setdefault(place, Seat())

    def find(self, gpu: int, origin: str) -> Seat | None:
        """The seat of which an origin speaks."""
        twin = self._seats.get(Place(gpu, origin)) if origin in self.twins else None
        return twin if twin is not None else self._seats.get(Place(gpu))

    def is_twin(self, gpu: int, origin: str, named: JobName | None, fresh_since: float) -> bool:
        """Whether what an origin says of a GPU is of another machine than what others say.

        `fresh_since` (Unix seconds) is how old their word on the job may be.
        """
        seat = self._seats.get(Place(gpu))
        if seat is None or named is None or seat.job is None:
            return False
        is_contradicted = seat.named_by not in (_ANY_ORIGIN, origin) and seat.job != named
        return is_contradicted and seat.named_at > fresh_since

    def twins_before(self, oldest: float) -> list[Place]:
        """The seats of other machines of this name that were not seen since."""
        return [at for at, seat in self._seats.items() if at.origin and seat.seen_at < oldest]

    def drop(self, place: Place) -> None:
        """Nobody sits there any more."""
        self._seats.pop(place, None)
        self.twins = {one.origin for one in self._seats if one.origin}
