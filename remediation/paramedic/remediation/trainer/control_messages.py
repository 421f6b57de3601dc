"""The control protocol's lines, as docs/architecture.md defines them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from paramedic.remediation.trainer.errors import ControlMessageError

_HIGHEST_PORT = 65535
_MOST = 2**31 - 1
"""What torch takes for ranks and sizes."""
_SHOWN = 80
_MOST_TOLD = 300


@dataclass(frozen=True, slots=True)
class Assign:
    """Join this generation."""

    generation: int
    rank: int
    world_size: int
    store_host: str
    store_port: int | None
    """None for rank 0, which opens the store itself."""


@dataclass(frozen=True, slots=True)
class Abort:
    """This generation is over: every blocked collective must return."""

    generation: int


@dataclass(frozen=True, slots=True)
class Stop:
    """Leave the step loop and exit with 0."""


@dataclass(frozen=True, slots=True)
class Ping:
    """Answer at once: the supervisor wants to know whether this process could join."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A message of a newer protocol; it is skipped."""

    kind: str


SupervisorMessage = Assign | Abort | Ping | Stop | Unknown


class CheckpointResult(StrEnum):
    """What became of a checkpoint."""

    SAVED = "saved"
    FAILED = "failed"
    LOADED = "loaded"


def parse_message(line: bytes) -> SupervisorMessage:
    """One line from the supervisor. Raises ControlMessageError."""
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ControlMessageError(f"control line {line[:_SHOWN]!r} is not JSON: {error}") from error
    if not isinstance(fields, dict):
        raise ControlMessageError(f"control line {line[:_SHOWN]!r} is not a JSON object")
    match fields.get("type"):
        case "assign":
            return _parse_assign(fields)
        case "abort":
            return Abort(_integer(fields, "generation", least=0))
        case "stop":
            return Stop()
        case "ping":
            return Ping()
        case other:
            return Unknown(str(other))


def _parse_assign(fields: dict[str, Any]) -> Assign:
    assign = Assign(
        generation=_integer(fields, "generation", least=0),
        rank=_integer(fields, "rank", least=0),
        world_size=_integer(fields, "world_size", least=1),
        store_host=str(fields.get("store_host") or "127.0.0.1"),
        store_port=_port(fields),
    )
    if assign.rank >= assign.world_size:
        message = f"assign: rank {assign.rank} does not fit world_size {assign.world_size}"
        raise ControlMessageError(message)
    if assign.rank > 0 and assign.store_port is None:
        raise ControlMessageError(f"assign: rank {assign.rank} got no store_port; only rank 0 may")
    return assign


def _port(fields: dict[str, Any]) -> int | None:
    if fields.get("store_port") is None:
        return None
    return _integer(fields, "store_port", least=1, most=_HIGHEST_PORT)


def _integer(fields: dict[str, Any], name: str, *, least: int, most: int = _MOST) -> int:
    value = fields.get(name)
    if type(value) is not int or not least <= value <= most:
        kind, told = fields.get("type"), repr(value)[:_SHOWN]
        raise ControlMessageError(
            f"{kind}: {name} is {told}, not a whole number from {least} to {most}"
        )
    return value


def hello(node: str, process_id: int) -> bytes:
    """The trainer library is here."""
    return _line(type="hello", node=node, process_id=process_id)


def ready(node: str) -> bytes:
    """Warmed up, waiting to be assigned."""
    return _line(type="ready", node=node)


def store(generation: int, port: int) -> bytes:
    """This process hosts the rendezvous store of the generation."""
    return _line(type="store", generation=generation, port=port)


def failed(generation: int, reason: str, step: int | None) -> bytes:
    """A collective of the generation broke; waiting for the next one.

    `step` is the newest step committed here, as in every message; None when there is none.
    """
    known = {} if step is None else {"step": step}
    return _line(type="failed", generation=generation, reason=reason, **known)


def committed(generation: int, step: int) -> bytes:
    """This worker has completed a step in the generation; told at every step."""
    return _line(type="committed", generation=generation, step=step)


def checkpoint(generation: int, step: int, result: CheckpointResult, reason: str) -> bytes:
    """A checkpoint was saved or loaded, or could not be."""
    return _line(
        type="checkpoint", generation=generation, step=step, result=result.value, reason=reason
    )


def finished(step: int) -> bytes:
    """The step loop ended after this step; the process will exit by itself."""
    return _line(type="finished", step=step)


def pong() -> bytes:
    """The answer to `ping`."""
    return _line(type="pong")


def raised(error: BaseException) -> bytes:
    """An error that nobody caught ends this process."""
    first = (str(error).splitlines() or [""])[0][:_MOST_TOLD]
    name = type(error).__name__
    return _line(type="raised", error=f"{name}: {first}" if first else name)


def _line(**fields: Any) -> bytes:
    return json.dumps(fields).encode() + b"\n"
