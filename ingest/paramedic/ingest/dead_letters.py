"""Dead letters: what could not be read is kept with its reason, so that nothing vanishes."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass

from paramedic.ingest.contract import ContractError, Message, Topic

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
        except (ValueError, KeyError, TypeError) as error:
            raise ContractError(f"not a dead letter: {line[:120]!r}: {error!r}") from error
