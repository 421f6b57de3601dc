"""What ingest produces for every later part: telemetry batches, events, windows, the bus.

Standard library only, so that any process can import it. Times are Unix seconds in UTC where a
number is used (`…_seconds`), and aware datetimes where people read them.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NewType, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

JobName = NewType("JobName", str)
NodeName = NewType("NodeName", str)


class Topic(StrEnum):
    """The topics of the bus (formats, section 4); a prefix other than `paramedic` can be set."""

    TELEMETRY = "telemetry.v1"
    """Telemetry batches: many nodes × one second."""
    EVENTS = "events.v1"
    """Discrete facts, one JSON object a message."""
    VERDICTS = "verdicts.v1"
    """Verdicts, one JSON object a message."""
    DEAD_LETTER = "dead-letter.v1"
    """What could not be read, with the reason."""
    SLOTS = "slots.v1"
    """Dense slots of jobs with more than one shard: a telemetry batch with all that the shard's
    nodes said of one second, under the key of the job's first shard."""

    def qualified(self, prefix: str = "paramedic") -> str:
        """The topic's name at the broker, such as `paramedic.telemetry.v1`."""
        return f"{prefix}.{self.value}"


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the bus as a subscriber sees it."""

    topic: Topic
    key: str
    payload: bytes
    offset: int
    """Position in the topic (embedded, memory) or in its partition (Kafka); grows by arrival."""
    partition: int = 0


class Start(StrEnum):
    """Where a new subscription begins."""

    EARLIEST = "earliest"
    """The oldest message that the bus still holds."""
    LATEST = "latest"
    """Only messages published after the subscription was made."""


class Publisher(Protocol):
    """Puts messages on the bus. Safe to use from several threads."""

    def publish(self, topic: Topic, key: str, payload: bytes) -> None:
        """Hand one message over; it may still be on its way when this returns.

        Raises BusUnavailableError when the message cannot be accepted.
        """
        ...

    def flush(self, timeout_seconds: float) -> None:
        """Wait until everything handed over has been accepted by the bus.

        Raises BusUnavailableError when that takes longer than the time-out.
        """
        ...

    def close(self) -> None:
        """Flush shortly and let go of the connection. Closing twice is harmless."""
        ...


class Subscription(Protocol):
    """Reads messages of some topics in the order in which each key's were published."""

    def poll(self, timeout_seconds: float) -> Sequence[Message]:
        """Messages that have arrived, waiting at most the time-out for the first.

        Raises BusUnavailableError when the bus is gone and did not come back in time.
        """
        ...

    def close(self) -> None:
        """Let go of the connection. Closing twice is harmless."""
        ...


class Bus(Protocol):
    """A way to publish and subscribe; memory, embedded and Kafka pass one contract suite."""

    def publisher(self) -> Publisher:
        """A new publisher."""
        ...

    def subscribe(self, topics: Sequence[Topic], start: Start) -> Subscription:
        """A new, independent subscription: every subscription sees every message."""
        ...


class Entity(StrEnum):
    """What one row of a telemetry table speaks of."""

    NODE = "node"
    GPU = "gpu"
    RANK = "rank"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of one entity in one second; absent values are NaN, which means "not observed"."""

    entity: Entity
    nodes: tuple[NodeName, ...]
    """The node of each row."""
    indices: tuple[int, ...] | None
    """GPU index or rank of each row; None for node rows."""
    columns: Mapping[str, Sequence[float]]
    """Metric id to one value a row: a tuple, an array, a view of the message it came in."""


@dataclass(frozen=True, slots=True)
class TelemetryBatch:
    """Many nodes × one second of one job: the message of the telemetry topic."""

    job: JobName
    generation: int
    """The job's generation when the values were taken (it grows by one at every recovery)."""
    second: int
    """The slot: Unix seconds, UTC."""
    tables: tuple[Table, ...]
    shard: int = 0
    """Which part of the job's nodes this speaks of."""
    shards: int = 1
    """How many parts the job has; more than one makes the shards be aligned before diagnosis."""


class EventKind(StrEnum):
    """Kinds of discrete facts (formats, section 2)."""

    XID = "xid"
    SXID = "sxid"
    KERNEL_LOG = "kernel_log"
    PROCESS_EXIT = "process_exit"
    """`exit_code` or `signal` in the details."""
    MEMBERSHIP = "membership"
    """`change`: joined, left, replaced_by (with `by`, a node name)."""
    CHECKPOINT = "checkpoint"
    """`result`: saved, failed, loaded."""
    MAINTENANCE = "maintenance"
    """`change`: declared, began, ended; `id`, `begins` and `ends` (RFC 3339), `reason`. Without a
    node it is about the whole job."""
    JOB_STATE = "job_state"
    """`state`: one of JobState; `sampling_seconds` where the job's telemetry is slower than 1 s."""
    TELEMETRY = "telemetry"
    """`change`: gpu_lost, gpu_returned (with `uuid`), source_blind, source_back (with `origin`,
    and as `entity` whether the source told of the node's GPUs or of the host)."""
    FLIGHT_RECORDER = "flight_recorder"
    """A rank that others wait for, by dumps of PyTorch's recorder: `rank`; `group`, `sequence` of
    the collective, how many ranks are `waiting`, and `message`."""


class JobState(StrEnum):
    """What a job as a whole is doing."""

    STARTING = "starting"
    WARMING_UP = "warming_up"
    TRAINING = "training"
    CHECKPOINTING = "checkpointing"
    EVALUATING = "evaluating"
    RECOVERING = "recovering"
    RESIZING = "resizing"
    SUSPENDED = "suspended"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class Event:
    """A discrete fact about a job, one JSON object on the events topic."""

    timestamp: datetime
    kind: EventKind
    job: JobName
    node: NodeName | None = None
    gpu: int | None = None
    rank: int | None = None
    generation: int | None = None
    details: Mapping[str, str | int | float | bool | None] = field(default_factory=dict)
    """Fields that belong to the kind: `state`, `change`, `by`, `exit_code`, `signal`, …"""

    def to_json(self) -> bytes:
        """The event as a single line of JSON; details stand beside the common fields."""
        common = {
            "timestamp": format_time(self.timestamp),
            "kind": self.kind.value,
            "job": self.job,
            "node": self.node,
            "gpu": self.gpu,
            "rank": self.rank,
            "generation": self.generation,
        }
        present = {key: value for key, value in common.items() if value is not None}
        return json.dumps({**self.details, **present}).encode()

    @classmethod
    def from_json(cls, payload: bytes) -> Event:
        """Read one line of JSON. Raises ContractError when it is not an event.

        Details whose value is neither text nor number are left out: a newer writer may send any.
        """
        try:
            fields = json.loads(payload)
            common = {name: _take(fields, name, kind) for name, kind in _EVENT_FIELDS.items()}
            return cls(
                timestamp=parse_time(fields.pop("timestamp")),
                kind=EventKind(fields.pop("kind")),
                job=JobName(_not_empty(named(fields.pop("job"), "job", str), "job")),
                details={key: v for key, v in fields.items() if isinstance(v, _DETAIL)},
                **common,
            )
        except UNREADABLE as error:
            raise ContractError(f"not an event: {payload[:120]!r}: {why_not(error)}") from error


_EVENT_FIELDS: Mapping[str, type] = {"node": str, "gpu": int, "rank": int, "generation": int}
UNREADABLE = (
    ValueError, KeyError, AttributeError, TypeError,
    OverflowError,  # a time before the first year, once it is in UTC
    RecursionError,  # JSON that is nested without end
)  # fmt: skip
"""What reading a record from somebody's JSON may raise."""
_DETAIL = (str, int, float, bool, type(None))
_SHOWN_CHARACTERS = 240


def why_not(error: Exception) -> str:
    """Why a record cannot be read, in words, of what reading it has raised.

    Of a key that is missing Python says no more than its name; a repr may hold the whole record.

    >>> why_not(KeyError("job")), why_not(ValueError("gpu is -1"))
    ("'job' is missing", 'ValueError: gpu is -1')
    """
    if isinstance(error, KeyError) and error.args:
        return f"{str(error.args[0])[:_SHOWN_CHARACTERS]!r} is missing"
    return f"{type(error).__name__}: {error}"[:_SHOWN_CHARACTERS]


def _take(fields: dict[str, Any], name: str, kind: type) -> Any:
    value = fields.pop(name, None)
    return None if value is None else _not_empty(named(value, name, kind), name)


def _not_empty(value: Any, name: str) -> Any:
    if value == "":
        raise ValueError(f"{name} is empty")
    return value


def named(value: Any, name: str, *kinds: type) -> Any:
    """The value, if it is of one of its field's types. Raises TypeError, naming the field."""
    if not isinstance(value, kinds) or isinstance(value, bool):
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise TypeError(f"{name} is {value!r}, not {wanted}")
    return value


@dataclass(frozen=True, slots=True)
class EntityKey:
    """One row of a window: a node, one of its GPUs, or a rank that runs on it."""

    entity: Entity
    node: NodeName
    index: int | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """The last closed slots of a job, oldest first, of one entity kind.

    `values[r, m, t]` is metric `metrics[m]` of row `rows[r]` in the slot that begins in second
    `first_second + t * slot_seconds`; NaN where `observed[r, m, t]` is False. Shape of both: (rows,
    metrics, slots), float32 (float64 for ranks) and bool. They are views of what goes on being
    written: valid until the job's windows take in the next batch; copy what has to last.
    """

    job: JobName
    generation: int
    entity: Entity
    first_second: int
    rows: tuple[EntityKey, ...]
    metrics: tuple[str, ...]
    values: NDArray[np.float32 | np.float64]
    observed: NDArray[np.bool_]
    slot_seconds: int = 1
    """How wide a slot is."""

    @property
    def seconds(self) -> range:
        """The first second of each slot."""
        width = self.slot_seconds
        return range(
            self.first_second, self.first_second + int(self.values.shape[2]) * width, width
        )

    @property
    def last_second(self) -> int:
        """The newest slot in the window, by its first second."""
        slots = int(self.values.shape[2])
        return self.first_second + (slots - 1) * self.slot_seconds


_PAYLOAD_LIMIT_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message that could not be read, as it lies on the dead-letter topic."""

    topic: Topic
    key: str
    partition: int
    offset: int
    reason: str
    payload: bytes
    """The beginning of the message, at most 256 KiB of it."""
    payload_bytes: int
    """How long the message was."""

    @classmethod
    def of(cls, message: Message, reason: Exception | str) -> DeadLetter:
        """The letter about a message, with as much of its payload as a letter holds."""
        return cls(
            topic=message.topic,
            key=message.key,
            partition=message.partition,
            offset=message.offset,
            reason=str(reason),
            payload=message.payload[:_PAYLOAD_LIMIT_BYTES],
            payload_bytes=len(message.payload),
        )

    def to_json(self) -> bytes:
        """One line of JSON; the payload is base 64."""
        fields = {
            "topic": self.topic,
            "key": self.key,
            "partition": self.partition,
            "offset": self.offset,
            "reason": self.reason,
            "payload": base64.b64encode(self.payload).decode("ascii"),
            "payload_bytes": self.payload_bytes,
        }
        return json.dumps(fields).encode()

    @classmethod
    def from_json(cls, line: bytes) -> DeadLetter:
        """Read one line of JSON. Raises ContractError when it is no dead letter."""
        try:
            fields = json.loads(line)
            return cls(
                topic=Topic(fields["topic"]),
                key=fields["key"],
                partition=fields["partition"],
                offset=fields["offset"],
                reason=fields["reason"],
                payload=base64.b64decode(fields["payload"], validate=True),
                payload_bytes=fields["payload_bytes"],
            )
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ContractError(f"not a dead letter: {line[:120]!r}: {why_not(error)}") from error


class IngestError(Exception):
    """Base of what can go wrong on the way in.

    IngestError
    ├── ContractError        a message is not what the contract says; goes to the dead letters
    └── BusError
        ├── BusUnavailableError   try again: the bus is gone, full or not reachable
        ├── BusAddressError       stop: the address can never work
        └── BusSettingError       stop: a certificate, a password or an option can never work
    """


class ContractError(IngestError):
    """A message does not follow the contract."""


class BusError(IngestError):
    """The bus did not do what it was asked."""


class BusUnavailableError(BusError):
    """The bus cannot be reached or does not take messages now; trying again may help."""


class BusAddressError(BusError):
    """The address of the bus can never work; a person has to change it."""


class BusSettingError(BusError):
    """What is set about the bus can never work; a person has to change it."""


def format_time(moment: datetime) -> str:
    """RFC 3339 in UTC with a `Z`, microseconds only where there are any.

    >>> format_time(datetime(2026, 1, 1, 0, 11, 12, tzinfo=UTC))
    '2026-01-01T00:11:12Z'
    """
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def parse_time(text: str) -> datetime:
    """The aware datetime of an RFC 3339 string. Raises ValueError without a time zone.

    >>> parse_time("2026-01-01T00:11:12Z").second
    12
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"time without a zone: {text}")
    return moment.astimezone(UTC)
