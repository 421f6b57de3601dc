"""Lines out of a byte stream: one message a line, with a bound on what a peer may send."""

from __future__ import annotations

MAX_LINE_BYTES = 256 * 1024


class LineTooLongError(Exception):
    """A peer sent more than the bound without ending the line."""


class LineBuffer:
    """Collects bytes and gives back whole lines, without the line end.

    >>> buffer = LineBuffer(limit_bytes=100)
    >>> buffer.feed(b'{"type": "hel')
    []
    >>> buffer.feed(b'lo"}\\n')
    [b'{"type": "hello"}']
    """

    def __init__(self, limit_bytes: int = MAX_LINE_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """Lines completed by `data`; blank ones are left out.

        Raises LineTooLongError when a line, ended or not, is longer than the bound.
        """
        self._rest += data
        *lines, rest = self._rest.split(b"\n")
        longest = max(len(line) for line in (*lines, rest))
        if longest > self._limit_bytes:
            raise LineTooLongError(f"a line of {longest} bytes, the bound is {self._limit_bytes}")
        self._rest = bytearray(rest)
        return [bytes(line) for line in lines if line.strip()]
