"""As much HTTP/1.1 as a scraper needs: GET and HEAD, connections that stay open."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from http import HTTPStatus

from paramedic.ingest.synthetic.serving.pages import Answer

_HEAD_LIMIT_BYTES = 16 * 1024
_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class PageProtocol(asyncio.Protocol):
    """One connection. A request that is no HTTP ends it."""

    def __init__(
        self, answer: Callable[[str], Answer], connections: set[asyncio.Transport]
    ) -> None:
        self._answer = answer
        self._connections = connections
        self._transport: asyncio.Transport | None = None
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember the connection, so that closing the server ends it."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._connections.add(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it, whatever ended it."""
        del exc
        if self._transport is not None:
            self._connections.discard(self._transport)

    def data_received(self, data: bytes) -> None:
        """Answer every request that is complete."""
        self._received += data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            head, self._received = self._received[:end], self._received[end + 4 :]
            self._respond(head.decode("latin-1"))
        if len(self._received) > _HEAD_LIMIT_BYTES:
            self._send(Answer(431, b"the request's head is too long\n"), is_last=True)

    def _respond(self, head: str) -> None:
        line, _, fields = head.partition("\r\n")
        words = line.split(" ")
        if len(words) != 3:
            self._send(Answer(400, b"not a request\n"), is_last=True)
            return
        method, path, version = words
        wanted = "keep-alive" if version == "HTTP/1.0" else "close"
        is_named = f"connection: {wanted}" in fields.lower()
        is_last = is_named if wanted == "close" else not is_named
        if method not in ("GET", "HEAD"):
            self._send(Answer(405, b"GET and HEAD only\n"), is_last)
            return
        self._send(self._answer(path), is_last, with_body=method == "GET")

    def _send(self, answer: Answer, is_last: bool, with_body: bool = True) -> None:
        assert self._transport is not None
        status = HTTPStatus(answer.status)
        head = (
            f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: {_TYPE}\r\n"
            f"Content-Length: {len(answer.body)}\r\n"
            f"Connection: {'close' if is_last else 'keep-alive'}\r\n\r\n"
        )
        self._transport.write(head.encode("ascii") + (answer.body if with_body else b""))
        if is_last:
            self._transport.close()
