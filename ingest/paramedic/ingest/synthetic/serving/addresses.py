"""Where each node's pages are, and the files that tell other programs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paramedic.ingest.contract import NodeName

GPU_PAGE = "/metrics"
NODE_PAGE = "/node/metrics"
_PORTS = {"dcgm": 9400, "node": 9100}
"""Where the true exporters listen; they stand in `instance`, as in a real cluster."""


@dataclass(frozen=True, slots=True)
class NodeAddress:
    """The pages of one node."""

    node: NodeName
    host: str
    """Host and port."""
    prefix: str
    """What stands before the paths: empty where the node has a port of its own."""

    @property
    def gpu_url(self) -> str:
        """Of the dcgm-exporter's page."""
        return f"http://{self.host}{self.prefix}{GPU_PAGE}"

    @property
    def node_url(self) -> str:
        """Of the node_exporter's page."""
        return f"http://{self.host}{self.prefix}{NODE_PAGE}"


def hosts_file(addresses: Sequence[NodeAddress]) -> str:
    """A list of exporters, one URL a line with the node's name: all have one host."""
    lines = [f"{url} node={one.node}" for one in addresses for url in (one.gpu_url, one.node_url)]
    return "\n".join(lines) + "\n"


def prometheus_file(addresses: Sequence[NodeAddress]) -> str:
    """A whole `prometheus.yml`: two jobs, every page once a second.

    All pages may come from one port, so the path is a label of the target, and `instance` is made
    of the node's name.
    """
    jobs = (_job("dcgm", GPU_PAGE, addresses), _job("node", NODE_PAGE, addresses))
    return (
        "global:\n  scrape_interval: 1s\n  scrape_timeout: 1s\n  evaluation_interval: 1s\n"
        "scrape_configs:\n" + "".join(jobs)
    )


def summary(job: str, addresses: Sequence[NodeAddress]) -> Mapping[str, object]:
    """What `simulate --serve` prints."""
    pages = [{"node": one.node, "dcgm": one.gpu_url, "host": one.node_url} for one in addresses]
    return {"job": job, "pages": pages}


def _job(name: str, path: str, addresses: Sequence[NodeAddress]) -> str:
    head = (
        f"  - job_name: {name}\n"
        "    relabel_configs:\n"
        "      - source_labels: [node]\n"
        "        target_label: instance\n"
        f'        replacement: "$1:{_PORTS[name]}"\n'
        "    static_configs:\n"
    )
    return head + "".join(_target(one, path) for one in addresses)


def _target(address: NodeAddress, path: str) -> str:
    labels = {"__metrics_path__": address.prefix + path, "node": address.node}
    return f"      - targets: [{json.dumps(address.host)}]\n        labels: {json.dumps(labels)}\n"
