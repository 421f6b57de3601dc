"""A job's past as a whole: what was observed of it, who plays which role, and what happened.

A history is what models are trained on and detectors are compared on. It says nothing of what was
broken: labels are kept by whoever compares.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paramedic.ingest.contract import Entity, Event, JobName, NodeName, Window
    from paramedic.ingest.recordings.description import JobDescription


@dataclass(frozen=True, slots=True)
class JobHistory:
    """All that was observed of one job over a stretch of time."""

    job: JobName
    windows: Mapping[Entity, Window]
    """A window as long as the history for each kind of row that was observed; all of them begin in
    the same second and have the same slots."""
    description: JobDescription | None = None
    """The roles, where they are known."""
    events: tuple[Event, ...] = field(default=())
    """In the order of their times."""

    @property
    def nodes(self) -> tuple[NodeName, ...]:
        """Every node of which anything was observed, sorted."""
        return tuple(sorted({row.node for one in self.windows.values() for row in one.rows}))

    @property
    def seconds(self) -> range:
        """The first second of each slot; empty where nothing was observed."""
        return next((window.seconds for window in self.windows.values()), range(0))

    def until(self, second: int) -> JobHistory:
        """The history as it was known when the slot that begins in this second had closed."""
        slots = sum(one <= second for one in self.seconds)
        closed = self.seconds[slots - 1] + self.seconds.step if slots else second
        known_before = max(second + 1, closed)
        return replace(
            self,
            windows={entity: _first(window, slots) for entity, window in self.windows.items()},
            events=tuple(e for e in self.events if e.timestamp.timestamp() < known_before),
        )


def _first(window: Window, slots: int) -> Window:
    return replace(
        window, values=window.values[:, :, :slots], observed=window.observed[:, :, :slots]
    )
