"""One node of a job: trains over gloo with the others, has an agent, and publishes to a broker.

Settings come as one JSON object. The steps are small; they wait for each other as real ones do.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import TypedDict


class Node(TypedDict):
    """The settings."""

    rank: int
    ranks: int
    device: str
    store: str
    server: str
    job: str
    folder: str


def start_agent(node: Node) -> Path:
    """The agent publishes to the broker from now on; gives the socket that it listens at."""
    from paramedic.ingest.agent.configuration import AgentConfig
    from paramedic.ingest.agent.thread import AgentThread
    from paramedic.ingest.agent.watched import WatchedProcess, WatchList
    from paramedic.ingest.batch.encode import encode
    from paramedic.ingest.bus.kafka import KafkaBus
    from paramedic.ingest.bus.kafka_settings import KafkaSettings
    from paramedic.ingest.contract import JobName, NodeName, TelemetryBatch, Topic

    publisher = KafkaBus(KafkaSettings((node["server"],))).publisher()
    key = f"{node['job']}/0"

    def publish(batch: TelemetryBatch) -> None:
        publisher.publish(Topic.TELEMETRY, key, encode(batch))

    def bury(payload: bytes, _reason: str) -> None:
        publisher.publish(Topic.DEAD_LETTER, key, payload)

    config = AgentConfig(JobName(node["job"]), Path(node["folder"]) / f"{node['rank']}.socket")
    process = WatchedProcess(NodeName(f"node-{node['rank']}"), os.getpid(), node["rank"])
    AgentThread(config, WatchList([process]), publish, bury).start()
    return config.telemetry_socket


def train(node: Node, socket: Path) -> None:
    """Steps without an end."""
    os.environ["GLOO_SOCKET_IFNAME"] = node["device"]
    import torch
    import torch.distributed as dist

    from paramedic.remediation.trainer.step_times import SecondOfSteps
    from paramedic.remediation.trainer.telemetry import DatagramChannel, Place, Telemetry

    torch.set_num_threads(1)
    second = SecondOfSteps()
    name = f"node-{node['rank']}"
    telemetry = Telemetry(node["job"], name, second, DatagramChannel(socket), time.time)
    dist.init_process_group(
        "gloo", init_method=node["store"], rank=node["rank"], world_size=node["ranks"]
    )
    telemetry.place = Place(0, node["rank"])
    telemetry.start()
    gradient = torch.ones(1024)
    for step in range(1_000_000):
        time.sleep(0.2)
        dist.all_reduce(gradient)
        gradient.fill_(1.0)
        second.know_step(step)


def main(settings: str) -> None:
    """Until it is killed."""
    node: Node = json.loads(settings)
    try:
        train(node, start_agent(node))
    except RuntimeError as error:  # the collective broke: a rank that is left waits to be ended
        sys.stderr.write(f"{error}\n")
        threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
