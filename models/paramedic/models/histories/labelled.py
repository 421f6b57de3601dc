"""A history beside what is known of it, and the parts of it in which nothing is known to be broken.

Whoever trains leaves known faults out; whoever compares keeps them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramedic.models.histories.labels import KnownFault, Labels, labels_of
from paramedic.models.histories.recorded import histories_of
from paramedic.models.histories.slicing import cut

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from paramedic.models.history import JobHistory

MARGIN_SECONDS = 120
"""Before its onset, which people set late, and after its end, a fault may still be seen."""
_SHORTEST_SECONDS = 90


@dataclass(frozen=True, slots=True)
class LabelledHistory:
    """One stretch of a recording."""

    name: str
    history: JobHistory
    labels: Labels

    @property
    def faults(self) -> tuple[KnownFault, ...]:
        """Known faults that fall into the stretch."""
        seconds = self.history.seconds
        end = seconds[-1] + seconds.step
        return tuple(
            one
            for one in self.labels.faults
            if one.onset < end and (one.end is None or one.end > seconds[0])
        )


def read_labelled(recording: Path) -> list[LabelledHistory]:
    """All stretches of a recording. Raises RecordingFormatError or LabelError."""
    labels = labels_of(recording)
    return [LabelledHistory(recording.name, one, labels) for one in histories_of(recording)]


def healthy_parts(labelled: LabelledHistory) -> Iterator[JobHistory]:
    """What lies between known faults; whole where there is none."""
    seconds = labelled.history.seconds
    begin, end = seconds[0], seconds[-1] + seconds.step
    for fault in sorted(labelled.faults, key=lambda one: one.onset):
        if fault.onset - MARGIN_SECONDS - begin >= _SHORTEST_SECONDS:
            yield cut(labelled.history, begin, fault.onset - MARGIN_SECONDS)
        if fault.end is None:
            return
        begin = max(begin, fault.end + MARGIN_SECONDS)
    if end - begin >= _SHORTEST_SECONDS:
        yield cut(labelled.history, begin, end)
