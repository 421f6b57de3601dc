"""The control protocol's messages as types (docs/architecture.md, section "Control protocol").

Reading is strict on what is needed and lenient on what is not: unknown fields are ignored, so that
a newer trainer library can talk to an older supervisor.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar

from paramedic.ingest.contract import JobName, NodeName
from paramedic.remediation.launchers.local.fields import Fields, MessageError
from paramedic.remediation.launchers.port import Effect, Placement

if TYPE_CHECKING:
    from collections.abc import Callable


class CheckpointResult(StrEnum):
    """What became of a checkpoint."""

    SAVED = "saved"
    FAILED = "failed"
    LOADED = "loaded"


@dataclass(frozen=True, slots=True)
class Hello:
    """The trainer library is in this worker."""

    type: ClassVar[str] = "hello"
    node: NodeName
    process_id: int

    @classmethod
    def read(cls, fields: Fields) -> Hello:
        """From the fields of a line."""
        return cls(NodeName(fields.text("node")), fields.number("process_id"))


@dataclass(frozen=True, slots=True)
class Ready:
    """Warmed up, waiting to be assigned."""

    type: ClassVar[str] = "ready"
    node: NodeName

    @classmethod
    def read(cls, fields: Fields) -> Ready:
        """From the fields of a line."""
        return cls(NodeName(fields.text("node")))


@dataclass(frozen=True, slots=True)
class Store:
    """Rank 0 hosts the rendezvous store of a generation on this port."""

    type: ClassVar[str] = "store"
    generation: int
    port: int

    @classmethod
    def read(cls, fields: Fields) -> Store:
        """From the fields of a line."""
        return cls(fields.number("generation"), fields.number("port"))


@dataclass(frozen=True, slots=True)
class Failed:
    """A collective of the generation broke; the worker waits for the next one."""

    type: ClassVar[str] = "failed"
    generation: int
    reason: str
    step: int | None = None
    """The newest step that this worker has committed; optional."""

    @classmethod
    def read(cls, fields: Fields) -> Failed:
        """From the fields of a line."""
        reason = fields.optional_text("reason") or "no reason given"
        return cls(fields.number("generation"), reason, fields.optional_number("step"))


@dataclass(frozen=True, slots=True)
class Committed:
    """The first step that this worker completed in the generation."""

    type: ClassVar[str] = "committed"
    generation: int
    step: int

    @classmethod
    def read(cls, fields: Fields) -> Committed:
        """From the fields of a line."""
        return cls(fields.number("generation"), fields.number("step"))


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint was saved or loaded, or could not be."""

    type: ClassVar[str] = "checkpoint"
    generation: int
    step: int
    result: CheckpointResult
    reason: str | None = None

    @classmethod
    def read(cls, fields: Fields) -> Checkpoint:
        """From the fields of a line."""
        result = fields.choice("result", CheckpointResult)
        reason = fields.optional_text("reason")
        return cls(fields.number("generation"), fields.number("step"), result, reason)


@dataclass(frozen=True, slots=True)
class Finished:
    """The step loop ended; the process will exit by itself."""

    type: ClassVar[str] = "finished"
    step: int
    """The last step that was done; -1 when there was none to do."""

    @classmethod
    def read(cls, fields: Fields) -> Finished:
        """From the fields of a line."""
        return cls(fields.number("step", least=-1))


@dataclass(frozen=True, slots=True)
class Replace:
    """An operator or remediation asks for the rank of this node to move to a spare."""

    type: ClassVar[str] = "replace"
    node: NodeName
    generation: int
    idempotency_key: str
    reason: str
    job: JobName | None = None
    """Optional; a supervisor of another job refuses."""

    @classmethod
    def read(cls, fields: Fields) -> Replace:
        """From the fields of a line."""
        job = fields.optional_text("job")
        return cls(
            node=NodeName(fields.text("node")),
            generation=fields.number("generation"),
            idempotency_key=fields.text("idempotency_key"),
            reason=fields.text("reason"),
            job=None if job is None else JobName(job),
        )


@dataclass(frozen=True, slots=True)
class Observe:
    """Somebody asks which node carries which rank."""

    type: ClassVar[str] = "observe"

    @classmethod
    def read(cls, _fields: Fields) -> Observe:
        """From the fields of a line: there are none."""
        return cls()


@dataclass(frozen=True, slots=True)
class Assign:
    """Join a generation. Rank 0 gets no port: it opens the store and answers with `store`."""

    type: ClassVar[str] = "assign"
    generation: int
    rank: int
    world_size: int
    store_host: str
    store_port: int | None


@dataclass(frozen=True, slots=True)
class Abort:
    """A generation is over: every blocked collective of it must return at once."""

    type: ClassVar[str] = "abort"
    generation: int


@dataclass(frozen=True, slots=True)
class Stop:
    """Leave the step loop and exit with 0."""

    type: ClassVar[str] = "stop"


@dataclass(frozen=True, slots=True)
class OutcomeReply:
    """The answer to `replace`."""

    type: ClassVar[str] = "outcome"
    effect: Effect
    reason: str

    @classmethod
    def read(cls, fields: Fields) -> OutcomeReply:
        """From the fields of a line."""
        return cls(fields.choice("effect", Effect), fields.text("reason"))


@dataclass(frozen=True, slots=True)
class PlacementsReply:
    """The answer to `observe`."""

    type: ClassVar[str] = "placements"
    job: JobName
    generation: int
    placements: tuple[Placement, ...]

    @classmethod
    def read(cls, fields: Fields) -> PlacementsReply:
        """From the fields of a line."""
        rows = tuple(_placement(row) for row in fields.rows("placements"))
        return cls(JobName(fields.text("job")), fields.number("generation"), rows)


FromWorker = Hello | Ready | Store | Failed | Committed | Checkpoint | Finished
FromOperator = Replace | Observe
ToWorker = Assign | Abort | Stop
Reply = OutcomeReply | PlacementsReply

_REQUESTS: dict[str, Callable[[Fields], FromWorker | FromOperator]] = {
    Hello.type: Hello.read,
    Ready.type: Ready.read,
    Store.type: Store.read,
    Failed.type: Failed.read,
    Committed.type: Committed.read,
    Checkpoint.type: Checkpoint.read,
    Finished.type: Finished.read,
    Replace.type: Replace.read,
    Observe.type: Observe.read,
}
_REPLIES: dict[str, Callable[[Fields], Reply]] = {
    OutcomeReply.type: OutcomeReply.read,
    PlacementsReply.type: PlacementsReply.read,
}


def encode(message: FromWorker | FromOperator | ToWorker | Reply) -> bytes:
    """The message as one line of JSON, line end included."""
    content: dict[str, Any] = {"type": message.type, **asdict(message)}
    return json.dumps(content).encode() + b"\n"


def read_request(line: bytes) -> FromWorker | FromOperator:
    """What a client sent to the supervisor. Raises MessageError."""
    fields = Fields.of_line(line)
    kind = fields.text("type")
    if kind not in _REQUESTS:
        raise MessageError(f"type: no message is called {kind[:40]!r}")
    return _REQUESTS[kind](fields)


def read_reply(line: bytes) -> Reply:
    """What the supervisor answered to an operator. Raises MessageError."""
    fields = Fields.of_line(line)
    kind = fields.text("type")
    if kind not in _REPLIES:
        raise MessageError(f"type: no answer is called {kind[:40]!r}")
    return _REPLIES[kind](fields)


def _placement(row: Fields) -> Placement:
    return Placement(
        node=NodeName(row.text("node")),
        rank=row.optional_number("rank"),
        process_id=row.optional_number("process_id"),
        generation=row.number("generation"),
    )
