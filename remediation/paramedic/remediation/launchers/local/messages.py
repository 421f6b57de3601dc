"""The control protocol's messages as types (docs/architecture.md, section "Control protocol").

Reading is strict on what is needed and lenient on what is not: unknown fields are ignored, so that
a newer trainer library can talk to an older supervisor.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, ClassVar, TypeVar, get_args

from paramedic.ingest.contract import JobName, NodeName
from paramedic.remediation.launchers.local.fields import Fields, MessageError
from paramedic.remediation.launchers.port import Effect, Placement

Kind = TypeVar("Kind")


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


@dataclass(frozen=True, slots=True)
class Ready:
    """Warmed up, waiting to be assigned."""

    type: ClassVar[str] = "ready"
    node: NodeName


@dataclass(frozen=True, slots=True)
class Store:
    """Rank 0 hosts the rendezvous store of a generation on this port."""

    type: ClassVar[str] = "store"
    generation: int
    port: int


@dataclass(frozen=True, slots=True)
class Failed:
    """A collective of the generation broke; the worker waits for the next one."""

    type: ClassVar[str] = "failed"
    generation: int
    reason: str
    step: int | None = None
    """The newest step that this worker has committed; optional."""


@dataclass(frozen=True, slots=True)
class Committed:
    """This worker has completed a step in the generation."""

    type: ClassVar[str] = "committed"
    generation: int
    step: int


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint was saved or loaded, or could not be."""

    type: ClassVar[str] = "checkpoint"
    generation: int
    step: int
    result: CheckpointResult
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """The step loop ended; the process will exit by itself."""

    type: ClassVar[str] = "finished"
    step: int
    """The last step that was done; -1 when there was none to do."""


@dataclass(frozen=True, slots=True)
class Pong:
    """The answer to `ping`."""

    type: ClassVar[str] = "pong"


@dataclass(frozen=True, slots=True)
class Raised:
    """An error that nobody caught ends this process; said before it lets go of its group."""

    type: ClassVar[str] = "raised"
    error: str


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


@dataclass(frozen=True, slots=True)
class Observe:
    """Somebody asks which node carries which rank."""

    type: ClassVar[str] = "observe"


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
class Ping:
    """Answer `pong`: it is to be known whether this worker could join."""

    type: ClassVar[str] = "ping"


@dataclass(frozen=True, slots=True)
class OutcomeReply:
    """The answer to `replace`."""

    type: ClassVar[str] = "outcome"
    effect: Effect
    reason: str


@dataclass(frozen=True, slots=True)
class PlacementsReply:
    """The answer to `observe`."""

    type: ClassVar[str] = "placements"
    job: JobName
    generation: int
    placements: tuple[Placement, ...]


FromWorker = Hello | Ready | Store | Failed | Committed | Checkpoint | Finished | Pong | Raised
FromOperator = Replace | Observe
ToWorker = Assign | Abort | Ping | Stop
Reply = OutcomeReply | PlacementsReply

_Reader = Callable[[Fields, str], Any]
_Table = Mapping[type, Mapping[str, _Reader]]
"""How each field of a message is read, in the order of the fields."""


def _reason(fields: Fields, name: str) -> str:
    return fields.optional_text(name) or "no reason given"


def _step_or_none_done(fields: Fields, name: str) -> int:
    return fields.number(name, least=-1)


def _placements(fields: Fields, name: str) -> tuple[Placement, ...]:
    return tuple(Placement(**_fields_of(_PLACEMENT, row)) for row in fields.rows(name))


_REQUESTS: _Table = {
    Hello: {"node": Fields.text, "process_id": Fields.number},
    Ready: {"node": Fields.text},
    Store: {"generation": Fields.number, "port": Fields.number},
    Failed: {"generation": Fields.number, "reason": _reason, "step": Fields.optional_number},
    Committed: {"generation": Fields.number, "step": Fields.number},
    Checkpoint: {
        "generation": Fields.number,
        "step": Fields.number,
        "result": lambda fields, name: fields.choice(name, CheckpointResult),
        "reason": Fields.optional_text,
    },
    Finished: {"step": _step_or_none_done},
    Pong: {},
    Raised: {"error": Fields.text},
    Replace: {
        "node": Fields.text,
        "generation": Fields.number,
        "idempotency_key": Fields.text,
        "reason": Fields.text,
        "job": Fields.optional_text,
    },
    Observe: {},
}
_REPLIES: _Table = {
    OutcomeReply: {
        "effect": lambda fields, name: fields.choice(name, Effect),
        "reason": Fields.text,
    },
    PlacementsReply: {
        "job": Fields.text,
        "generation": Fields.number,
        "placements": _placements,
    },
}
_PLACEMENT: Mapping[str, _Reader] = {
    "node": Fields.text,
    "rank": Fields.optional_number,
    "process_id": Fields.optional_number,
    "generation": Fields.number,
    "step": Fields.optional_number,
}
_REQUEST_TYPES = {kind.type: kind for kind in get_args(FromWorker | FromOperator)}
_REPLY_TYPES = {kind.type: kind for kind in get_args(Reply)}


def encode(message: FromWorker | FromOperator | ToWorker | Reply) -> bytes:
    """The message as one line of JSON, line end included."""
    content: dict[str, Any] = {"type": message.type, **asdict(message)}
    return json.dumps(content).encode() + b"\n"


def read_request(line: bytes) -> FromWorker | FromOperator:
    """What a client sent to the supervisor. Raises MessageError."""
    fields = Fields.of_line(line)
    kind = _kind(fields, _REQUEST_TYPES, "message")
    message: FromWorker | FromOperator = kind(**_fields_of(_REQUESTS[kind], fields))
    return message


def read_reply(line: bytes) -> Reply:
    """What the supervisor answered to an operator. Raises MessageError."""
    fields = Fields.of_line(line)
    kind = _kind(fields, _REPLY_TYPES, "answer")
    reply: Reply = kind(**_fields_of(_REPLIES[kind], fields))
    return reply


def _kind(fields: Fields, types: Mapping[str, type[Kind]], what: str) -> type[Kind]:
    name = fields.text("type")
    if name not in types:
        raise MessageError(f"type: no {what} is called {name[:40]!r}")
    return types[name]


def _fields_of(readers: Mapping[str, _Reader], fields: Fields) -> dict[str, Any]:
    return {name: read(fields, name) for name, read in readers.items()}
