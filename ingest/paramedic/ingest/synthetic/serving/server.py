"""Listens for all nodes: on one port with a path a node, or on a port for each."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial

from paramedic.ingest.contract import NodeName
from paramedic.ingest.synthetic.errors import ListenError
from paramedic.ingest.synthetic.serving.addresses import NodeAddress
from paramedic.ingest.synthetic.serving.http import PageProtocol
from paramedic.ingest.synthetic.serving.pages import Answer, Pages

HOST = "127.0.0.1"
"""The pages carry no secret, but a simulation is for the machine it runs on."""


@asynccontextmanager
async def serving(
    pages: Pages, nodes: Sequence[NodeName], port: int, a_port_each: bool = False
) -> AsyncIterator[list[NodeAddress]]:
    """Serve until the block ends; gives the addresses. Port 0: any free one.

    Raises ListenError when a port is taken or may not be used.
    """
    connections: set[asyncio.Transport] = set()
    servers: list[asyncio.Server] = []
    try:
        if a_port_each:
            for number, node in enumerate(nodes):
                answer = partial(pages.answer, node=node)
                wanted = port + number if port else 0
                servers.append(await _listen(answer, connections, wanted))
            hosts = [_host(server) for server in servers]
            yield [NodeAddress(n, h, "") for n, h in zip(nodes, hosts, strict=True)]
        else:
            servers.append(await _listen(pages.answer, connections, port))
            yield [NodeAddress(node, _host(servers[0]), f"/{node}") for node in nodes]
    finally:
        for server in servers:
            server.close()
        for connection in list(connections):
            connection.abort()


async def _listen(
    answer: Callable[[str], Answer], connections: set[asyncio.Transport], port: int
) -> asyncio.Server:
    loop = asyncio.get_running_loop()
    try:
        return await loop.create_server(lambda: PageProtocol(answer, connections), HOST, port)
    except (OSError, OverflowError) as error:
        raise ListenError(
            f"cannot listen on {HOST}:{port}: {error}: choose another --port, or 0 for a free one"
        ) from error


def _host(server: asyncio.Server) -> str:
    name, port = server.sockets[0].getsockname()[:2]
    return f"{name}:{port}"
