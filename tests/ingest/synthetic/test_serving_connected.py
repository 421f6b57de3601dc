"""The real server on free ports, asked as Prometheus asks."""

from __future__ import annotations

import asyncio
import http.client
import time
from collections.abc import Sequence
from dataclasses import replace

import pytest

from ingest.synthetic.clusters import configured
from paramedic.ingest.synthetic.cluster import SyntheticCluster
from paramedic.ingest.synthetic.errors import ListenError
from paramedic.ingest.synthetic.exposition.dialects import Dialect
from paramedic.ingest.synthetic.exposition.gpu_page import Attribution
from paramedic.ingest.synthetic.serving.pages import Pages
from paramedic.ingest.synthetic.serving.server import serving

pytestmark = pytest.mark.connected


def cluster_of_now() -> SyntheticCluster:
    return SyntheticCluster(replace(configured(nodes=3, gpus=2), first_second=int(time.time())))


def pages_of(cluster: SyntheticCluster) -> Pages:
    return Pages(cluster, Dialect.SI, Attribution.HPC_JOB, time.time)


def fetched(host: str, paths: Sequence[str]) -> list[tuple[int, bytes]]:
    """All paths over one connection."""
    connection = http.client.HTTPConnection(host, timeout=10)
    answers = []
    for path in paths:
        connection.request("GET", path)
        response = connection.getresponse()
        answers.append((response.status, response.read()))
    connection.close()
    return answers


def test_one_port_serves_every_node_over_one_connection() -> None:
    async def scenario() -> list[tuple[int, bytes]]:
        cluster = cluster_of_now()
        async with serving(pages_of(cluster), cluster.layout.nodes, 0) as addresses:
            paths = [one.gpu_url.partition(one.host)[2] for one in addresses] + ["/nothing"]
            return await asyncio.to_thread(fetched, addresses[0].host, paths)

    answers = asyncio.run(scenario())
    assert [status for status, _body in answers] == [200, 200, 200, 404]
    for number, (_status, body) in enumerate(answers[:3], start=1):
        assert f'hostname="node-000{number}"'.encode() in body


def test_a_port_for_each_node_serves_that_node() -> None:
    async def scenario() -> list[tuple[int, bytes]]:
        cluster = cluster_of_now()
        async with serving(pages_of(cluster), cluster.layout.nodes, 0, True) as addresses:
            assert len({one.host for one in addresses}) == 3
            paths = ("/metrics", "/node/metrics")
            return await asyncio.to_thread(fetched, addresses[1].host, paths)

    gpu, host = asyncio.run(scenario())
    assert b'hostname="node-0002"' in gpu[1]
    assert b'nodename="node-0002"' in host[1]


def test_closing_ends_connections_that_are_still_open() -> None:
    async def scenario() -> bytes:
        cluster = cluster_of_now()
        async with serving(pages_of(cluster), cluster.layout.nodes, 0) as addresses:
            host, _, port = addresses[0].host.partition(":")
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(b"GET /node-0001/metrics HTTP/1.1\r\n\r\n")
            await reader.readuntil(b"\r\n\r\n")
        try:
            return await asyncio.wait_for(reader.read(), 10)
        except ConnectionResetError:
            return b""
        finally:
            writer.close()

    assert b"HTTP/1.1" not in asyncio.run(scenario())


def test_a_port_that_is_taken_is_one_clear_error() -> None:
    async def scenario() -> None:
        cluster = cluster_of_now()
        pages, nodes = pages_of(cluster), cluster.layout.nodes
        async with serving(pages, nodes, 0) as addresses:
            port = int(addresses[0].host.rpartition(":")[2])
            with pytest.raises(ListenError, match=f"127.0.0.1:{port}.*another --port"):
                async with serving(pages, nodes, port):
                    pass
        with pytest.raises(ListenError, match="70000"):
            async with serving(pages, nodes, 70_000):
                pass

    asyncio.run(scenario())
