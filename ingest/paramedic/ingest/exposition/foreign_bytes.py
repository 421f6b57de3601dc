"""Tells what bytes that are no text seem to be, so that people hear what they have in hand."""

from __future__ import annotations

_BEGINNINGS: tuple[tuple[bytes, str], ...] = (
    (b"\x1f\x8b", "compressed by gzip: unpack it first"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd: unpack it first"),
    (b"\xfd7zXZ\x00", "compressed by xz: unpack it first"),
    (b"BZh", "compressed by bzip2: unpack it first"),
    (b"PK\x03\x04", "a zip archive: unpack it first"),
    (b"PAR1", "a Parquet file (paramedic replay reads recordings)"),
    (b"\xff\xfe", "text in UTF-16: save it as UTF-8"),
    (b"\xfe\xff", "text in UTF-16: save it as UTF-8"),
)
_LOOKED_AT_BYTES = 4096
_UTF_16_SHARE = 0.3
_UNREADABLE_SHARE = 0.1  # more than accents in an older encoding
_BINARY = "binary: it holds bytes that no text has"


def foreign_bytes(data: bytes) -> str | None:
    """What the bytes seem to be; None where they can be text."""
    if not data.strip():
        return "empty"
    for beginning, name in _BEGINNINGS:
        if data.startswith(beginning):
            return name
    looked_at = data[:_LOOKED_AT_BYTES]
    if b"\x00" not in looked_at:
        unreadable = looked_at.decode("utf-8", "replace").count("\ufffd")
        return _BINARY if unreadable > _UNREADABLE_SHARE * len(looked_at) + 1 else None
    # Latin letters in UTF-16 have a zero as every second byte, on one side only.
    shares = [looked_at[side::2].count(0) / len(looked_at) for side in (0, 1)]
    if max(shares) > _UTF_16_SHARE and min(shares) == 0:
        return "text in UTF-16: save it as UTF-8"
    return _BINARY
