"""What can go wrong in the node agent."""

from __future__ import annotations

from enum import StrEnum

from paramedic.ingest.contract import IngestError


class AgentError(IngestError):
    """Base of the errors of the node agent.

    AgentError
    ├── AgentSetupError        stop: the socket or an extra is missing; a person has to change it
    ├── SampleError            one process could not be read this second; costs its row
    └── DatagramRefusedError   one datagram is not used; it is counted and goes to the dead letters
    """


class AgentSetupError(AgentError):
    """The agent cannot work like this."""


class SampleError(AgentError):
    """The operating system did not answer for one process."""


class RefusalReason(StrEnum):
    """Why a datagram is not used."""

    MALFORMED = "malformed"
    """It is no telemetry batch."""
    FOREIGN_JOB = "foreign_job"
    """It speaks of another job."""
    FOREIGN_NODE = "foreign_node"
    """It speaks of a node that this agent does not watch."""
    FOREIGN_RANK = "foreign_rank"
    """The node does not carry that rank."""
    NOT_ONE_RANK = "not_one_rank"
    """It is a batch, but not one table with one rank's row."""
    OVERFLOW = "overflow"
    """More arrived within a second than the agent keeps."""


class DatagramRefusedError(AgentError):
    """A datagram is not used; carries the reason."""

    def __init__(self, reason: RefusalReason, detail: str) -> None:
        super().__init__(f"datagram refused ({reason}): {detail}")
        self.reason = reason
