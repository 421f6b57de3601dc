"""How large a message may be, the same on every bus, so that what works on one works on all."""

from __future__ import annotations

from paramedic.ingest.contract import ContractError, Topic

PAYLOAD_LIMIT_BYTES = 16 * 1024 * 1024 + 1024
"""The largest telemetry batch, with room for the bytes around its body."""
KEY_LIMIT_BYTES = 65_535


def encoded_key(topic: Topic, key: str, payload: bytes) -> bytes:
    """The key in UTF-8, if the message may be published at all.

    Raises ContractError when key or payload are too large, or the key is no text.
    """
    try:
        encoded = key.encode()
    except UnicodeEncodeError as error:
        raise ContractError(f"message for {topic}: key {key!r} is not text: {error}") from error
    if len(encoded) > KEY_LIMIT_BYTES or len(payload) > PAYLOAD_LIMIT_BYTES:
        raise ContractError(
            f"message for {topic}, key {key[:80]!r}: key of {len(encoded)} and payload of"
            f" {len(payload)} bytes, allowed are {KEY_LIMIT_BYTES} and {PAYLOAD_LIMIT_BYTES}"
        )
    return encoded
