"""Exporters for tests: small HTTP servers whose pages, answers and absence a test decides."""

from __future__ import annotations

import gzip
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SCRAPE = "SCRAPE_NUMBER"
"""In a page, stands for how often it has been asked for, so that losses and repeats show."""


class Exporter:
    """What it answers can be changed while it runs."""

    def __init__(self, page: str) -> None:
        self.page = page
        self.status = 200
        self.delay_seconds = 0.0
        self.is_compressed = False
        self.seen_headers: Mapping[str, str] = {}
        self.connections = 0
        self.requests = 0
        self.port = 0
        self.open: set[socket.socket] = set()

    @property
    def address(self) -> str:
        """`host:port`."""
        return f"127.0.0.1:{self.port}"


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that give up, or show no certificate, are part of the tests."""


def _handler(exporter: Exporter) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 5

        def setup(self) -> None:
            super().setup()
            exporter.connections += 1
            exporter.open.add(self.connection)

        def finish(self) -> None:
            exporter.open.discard(self.connection)
            with suppress(OSError):
                super().finish()

        def do_GET(self) -> None:
            number = exporter.requests = exporter.requests + 1
            exporter.seen_headers = dict(self.headers)
            time.sleep(exporter.delay_seconds)
            body = exporter.page.replace(SCRAPE, str(number)).encode()
            self.send_response(exporter.status)
            if exporter.is_compressed:
                body = gzip.compress(body)
                self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    return Handler


@contextmanager
def exporter(page: str, port: int = 0, tls: ssl.SSLContext | None = None) -> Iterator[Exporter]:
    """An exporter on a free port, or on a given one, for as long as the context lasts."""
    served = Exporter(page)
    server = _Server(("127.0.0.1", port), _handler(served))
    if tls is not None:
        server.socket = tls.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    served.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        for connection in list(served.open):  # kept alive by whoever scrapes
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        server.server_close()
        thread.join()
