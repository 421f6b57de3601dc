"""Which page a request gets: by path, by second, by what can be seen."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

import pytest

from ingest.synthetic.clusters import configured, pressed
from paramedic.ingest.contract import NodeName
from paramedic.ingest.synthetic.causes import Causes
from paramedic.ingest.synthetic.cluster import SyntheticCluster
from paramedic.ingest.synthetic.exposition.dialects import Dialect
from paramedic.ingest.synthetic.exposition.gpu_page import Attribution
from paramedic.ingest.synthetic.serving.addresses import (
    NodeAddress,
    hosts_file,
    prometheus_file,
    summary,
)
from paramedic.ingest.synthetic.serving.http import PageProtocol
from paramedic.ingest.synthetic.serving.pages import Answer, Pages

START = 1_800_000_000


@dataclass
class Clock:
    now: float = float(START)

    def __call__(self) -> float:
        return self.now


def pages(clock: Clock, cluster: SyntheticCluster | None = None, speed: float = 1.0) -> Pages:
    config = replace(configured(nodes=2, gpus=2), first_second=START)
    cluster = SyntheticCluster(config) if cluster is None else cluster
    return Pages(cluster, Dialect.CLASSIC, Attribution.NONE, clock, speed)


def time_on(answer: Answer) -> float:
    line = next(line for line in answer.body.splitlines() if line.startswith(b"node_time_seconds "))
    return float(line.split()[1])


def test_each_node_has_two_pages() -> None:
    served = pages(Clock())
    gpu = served.answer("/node-0002/metrics")
    host = served.answer("/node-0002/node/metrics")
    assert (gpu.status, host.status) == (200, 200)
    assert b'Hostname="node-0002"' in gpu.body
    assert b'nodename="node-0002"' in host.body
    assert served.answer("/metrics", node="node-0002") == gpu
    assert served.answer("/node-0002/metrics?collect[]=all") == gpu


@pytest.mark.parametrize(
    "path", ["/", "/metrics", "/node-0003/metrics", "/node-0001/", "/node-0001"]
)
def test_what_does_not_exist_is_said_so(path: str) -> None:
    assert pages(Clock()).answer(path).status == 404


def test_a_page_carries_the_second_in_which_it_is_asked_for() -> None:
    clock = Clock(START + 4.9)
    served = pages(clock)
    assert time_on(served.answer("/node-0001/node/metrics")) == START + 4
    clock.now = START + 5.0
    assert time_on(served.answer("/node-0001/node/metrics")) == START + 5


def test_within_a_second_a_page_is_rendered_once() -> None:
    clock = Clock(START + 3.1)
    served = pages(clock)
    first = served.answer("/node-0001/metrics")
    clock.now += 0.8
    assert served.answer("/node-0001/metrics") is first
    clock.now += 0.2
    assert served.answer("/node-0001/metrics") is not first


def test_time_can_pass_faster_than_the_clock_and_never_goes_back() -> None:
    clock = Clock(START)
    served = pages(clock, speed=10.0)
    clock.now += 2.0
    assert time_on(served.answer("/node-0001/node/metrics")) == START + 20
    clock.now -= 1.5
    assert time_on(served.answer("/node-0001/node/metrics")) == START + 20


def test_an_exporter_that_is_away_answers_with_an_error() -> None:
    def hide(causes: Causes) -> None:
        causes.is_seen[0] = False

    config = replace(configured(nodes=2, gpus=2), first_second=START)
    served = pages(Clock(), pressed(hide, config, first=0))
    assert served.answer("/node-0001/metrics").status == 503
    assert served.answer("/node-0001/node/metrics").status == 503
    assert served.answer("/node-0002/metrics").status == 200


class Connection(asyncio.Transport):
    """A transport without a network."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = b""
        self.is_closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.sent += data

    def close(self) -> None:
        self.is_closed = True


def asked(*pieces: bytes) -> Connection:
    connection = Connection()
    protocol = PageProtocol(lambda path: Answer(200, path.encode()), set())
    protocol.connection_made(connection)
    for piece in pieces:
        protocol.data_received(piece)
    return connection


def test_requests_are_answered_in_order_however_they_are_cut() -> None:
    connection = asked(b"GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HT", b"TP/1.1\r\n\r\n")
    answers = connection.sent.split(b"HTTP/1.1 200 OK\r\n")[1:]
    assert [answer.split(b"\r\n\r\n")[1] for answer in answers] == [b"/a", b"/b"]
    assert b"Content-Length: 2\r\n" in answers[0]
    assert not connection.is_closed


@pytest.mark.parametrize(
    ("request_", "status", "is_closed"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", b"200 OK", False),
        (b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n", b"200 OK", True),
        (b"GET / HTTP/1.0\r\n\r\n", b"200 OK", True),
        (b"GET / HTTP/1.0\r\nconnection: Keep-Alive\r\n\r\n", b"200 OK", False),
        (b"POST / HTTP/1.1\r\n\r\n", b"405 Method Not Allowed", False),
        (b"hello\r\n\r\n", b"400 Bad Request", True),
        (b"x" * 20_000, b"431 Request Header Fields Too Large", True),
    ],
)
def test_a_request_is_answered_as_http_wants_it(
    request_: bytes, status: bytes, is_closed: bool
) -> None:
    connection = asked(request_)
    assert connection.sent.startswith(b"HTTP/1.1 " + status)
    assert connection.is_closed is is_closed


def test_head_gets_the_length_and_no_body() -> None:
    sent = asked(b"HEAD /abc HTTP/1.1\r\n\r\n").sent
    assert b"Content-Length: 4" in sent
    assert sent.endswith(b"\r\n\r\n")


ONE_PORT = [NodeAddress(NodeName("node-0001"), "127.0.0.1:9400", "/node-0001")]
A_PORT_EACH = [NodeAddress(NodeName("node-0001"), "127.0.0.1:9400", "")]


def test_the_hosts_file_has_a_url_a_line() -> None:
    assert hosts_file(ONE_PORT) == (
        "http://127.0.0.1:9400/node-0001/metrics node=node-0001\n"
        "http://127.0.0.1:9400/node-0001/node/metrics node=node-0001\n"
    )
    assert "http://127.0.0.1:9400/node/metrics " in hosts_file(A_PORT_EACH)


def test_prometheus_is_told_paths_nodes_and_the_interval() -> None:
    assert (
        prometheus_file(ONE_PORT)
        == """\
global:
  scrape_interval: 1s
  scrape_timeout: 1s
  evaluation_interval: 1s
scrape_configs:
  - job_name: dcgm
    relabel_configs:
      - source_labels: [node]
        target_label: instance
        replacement: "$1:9400"
    static_configs:
      - targets: ["127.0.0.1:9400"]
        labels: {"__metrics_path__": "/node-0001/metrics", "node": "node-0001"}
  - job_name: node
    relabel_configs:
      - source_labels: [node]
        target_label: instance
        replacement: "$1:9100"
    static_configs:
      - targets: ["127.0.0.1:9400"]
        labels: {"__metrics_path__": "/node-0001/node/metrics", "node": "node-0001"}
"""
    )


def test_the_summary_names_every_page() -> None:
    assert summary("j", A_PORT_EACH) == {
        "job": "j",
        "pages": [
            {
                "node": "node-0001",
                "dcgm": "http://127.0.0.1:9400/metrics",
                "host": "http://127.0.0.1:9400/node/metrics",
            }
        ],
    }
