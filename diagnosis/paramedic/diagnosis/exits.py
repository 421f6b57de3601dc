"""A process that has ended: hard evidence, and how it reads in a verdict.

Who of several that ended is accused is decided by their order (`downfall`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Candidate, Evidence, Fault, Phase, Tier
from paramedic.diagnosis.finding import Finding
from paramedic.ingest.contract import EventKind

if TYPE_CHECKING:
    from datetime import datetime

    from paramedic.diagnosis.picture import JobPicture
    from paramedic.ingest.contract import Event, NodeName

_SHELL_SIGNALS = range(129, 160)
"""Exit codes by which a shell tells of the signal that ended a process: 128 and the signal."""
_CRASHES = frozenset({4, 5, 7, 8, 9, 11, 31})
"""Signals that a process gets for what it does itself, or from the system for the memory it takes.
Nobody ends so because a collective has failed: that raises an error or aborts, and launchers ask
first."""
EXIT = "process_exit"
"""The end of a process, as evidence."""
_CONFIDENCE = {True: 1.0, False: 0.97}
"""Of who speaks for itself; of whoever ended first, as others may when a collective fails."""


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a rank's process that nobody asked for."""

    node: NodeName
    generation: int
    event: Event

    @property
    def who(self) -> tuple[NodeName, int, int]:
        """Whose end it is, as far as was told."""
        rank, gpu = self.event.rank, self.event.gpu
        return self.node, -1 if rank is None else rank, -1 if gpu is None else gpu

    @property
    def at(self) -> float:
        """When it ended (Unix seconds)."""
        return self.event.timestamp.timestamp()

    @property
    def signal(self) -> int | None:
        """The signal that ended it, however that was told."""
        signal, code = self.event.details.get("signal"), self.event.details.get("exit_code")
        if isinstance(signal, int):
            return abs(signal)
        if isinstance(code, int):
            return -code if code < 0 else code - 128 if code in _SHELL_SIGNALS else None
        return None

    @property
    def manner(self) -> tuple[int | None, object]:
        """In what others have to agree to have ended alike."""
        return self.signal, None if self.signal else self.event.details.get("exit_code")

    @property
    def is_clean(self) -> bool:
        """Whether it ended as a process does that has done its work."""
        return self.signal is None and self.event.details.get("exit_code") == 0

    @property
    def is_seen_in_rows(self) -> bool:
        """Whether nobody told of it, and it shows in what the card tells."""
        return "seen_in" in self.event.details

    @property
    def is_its_own(self) -> bool:
        """Whether it cannot have ended for what another rank did; our launcher ends no victims."""
        return self.signal in _CRASHES or self.event.details.get("ended_by") == "launcher"

    def finding(self, detected_at: datetime | None = None) -> Finding:
        """The accusation of who ended; `detected_at` where it was not decided by the event."""
        return Finding(
            node=self.node,
            rank=self.event.rank,
            generation=self.generation,
            fault=Fault.PROCESS_EXIT,
            phase=Phase.FAILED,
            tier=Tier.KNOWN_ERROR,
            confidence=_CONFIDENCE[self.is_its_own],
            onset=self.event.timestamp,
            detected_at=detected_at or self.event.timestamp,
            summary=self._summary(),
            candidates=(Candidate(self.node, 1.0),),
            evidence=(self.evidence(),),
        )

    def evidence(self) -> Evidence:
        """The end as evidence, with its exit code or the number of its signal."""
        told = (self.event.details.get(field) for field in ("exit_code", "signal"))
        code = next((float(one) for one in told if isinstance(one, int | float)), None)
        return Evidence(EXIT, code, None, 0.0, self.event.timestamp)

    @property
    def name(self) -> str:
        """What has ended."""
        if self.event.rank is not None:
            return f"the process of rank {self.event.rank} on {self.node}"
        return f"the process on GPU {self.event.gpu} of {self.node}"

    def words(self) -> str:
        """How it ended; empty where nobody told."""
        details = self.event.details
        if self.is_seen_in_rows:
            return ", as the memory of its card is free"
        if details.get("signal") is not None:
            return f" by signal {details['signal']}"
        code = details.get("exit_code")
        return f" with exit code {code}" if code is not None else ""

    def _summary(self) -> str:
        what = f"{self.name} has ended{self.words()}"
        if self.event.details.get("ended_by") != "launcher":
            return f"{what}, and nobody asked it to"
        why = self.event.details.get("reason") or "it did not say why"
        return f"{what}: the launcher ended it: {why}"


def ending_of(event: Event, picture: JobPicture) -> Ending | None:
    """The end of a rank's process that nobody asked for; else nothing.

    Nothing is said of an exit that the job has already recovered from: its event came too late.
    """
    if event.kind is not EventKind.PROCESS_EXIT or event.details.get("expected") is True:
        return None
    generation = picture.generation if event.generation is None else event.generation
    if event.node is None or (event.rank is None and event.gpu is None):
        return None
    if picture.is_over(generation, event.timestamp.timestamp()):
        return None
    return Ending(event.node, generation, event)
