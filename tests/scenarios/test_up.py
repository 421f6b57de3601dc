"""`paramedic up` beside a real Prometheus that scrapes a cluster which trains."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from scenarios.case import PATIENCE_SECONDS, Case, wait_until
from servers.kafka_broker import kafka_broker
from servers.prometheus import PrometheusServer, free_port, prometheus, prometheus_program

pytestmark = [
    pytest.mark.connected,
    pytest.mark.timeout(300),
    pytest.mark.skipif(prometheus_program() is None, reason="no prometheus program"),
]
PAST_SECONDS = 30.0
NODES = 4


@contextmanager
def cluster(case: Case, *flags: str) -> Iterator[tuple[Path, Path]]:
    """A cluster that trains: a configuration for Prometheus, and a list of exporters."""
    config, hosts = case.folder / "scrape.yml", case.folder / "hosts.txt"
    process = case.start(
        "simulate", "--serve", "--nodes", str(NODES), "--gpus", "4", "--stages", "2", "--port", "0",
        "--write-prometheus", str(config), "--write-hosts", str(hosts), *flags,
    )  # fmt: skip
    wait_until(hosts.exists, "the exporters were there")
    wait_until(config.exists, "the configuration was there")
    try:
        yield config, hosts
    finally:
        process.kill()


@contextmanager
def scraped(case: Case, config: Path, port: int | None = None) -> Iterator[PrometheusServer]:
    folder = case.folder / "prometheus"
    folder.mkdir(exist_ok=True)
    with prometheus(folder, (), config_file=config, port=port) as server:
        yield server


def start_up(case: Case, *flags: str) -> subprocess.Popen[str]:
    return case.start("up", *flags, "--port", "0", "--run-folder", str(case.run_folder))


def ask(case: Case, path: str) -> Any:
    """What REST answers; None while it does not."""
    try:
        api = json.loads((case.run_folder / "up.json").read_text())["api"]
        with urllib.request.urlopen(f"{api}{path}", timeout=5) as answer:
            return json.load(answer)
    except OSError:
        return None


def trains(case: Case, job: str) -> bool:
    jobs = (ask(case, "/v1/jobs") or {"jobs": []})["jobs"]
    return any((one["name"], one["state"]) == (job, "training") for one in jobs)


def wait_for_lines(case: Case, words: str) -> None:
    log = case.run_folder / "logs" / "collect.log"
    wait_until(lambda: log.exists() and words in log.read_text(), f"collect said: {words}")


def test_the_job_of_a_prometheus_is_found_by_its_label_and_everything_ends_with_ctrl_c(
    case: Case,
) -> None:
    with cluster(case) as (config, _), scraped(case, config) as server:
        time.sleep(PAST_SECONDS)  # so that there is a past
        process = start_up(case, "--prometheus", server.url)
        wait_until(lambda: trains(case, "synthetic"), "REST told that the job trains")
        job = ask(case, "/v1/jobs/synthetic")
        assert {stay["node"] for stay in job["placements"]} == {
            f"node-{number:04d}" for number in range(1, NODES + 1)
        }
        health = ask(case, "/healthz")
        assert all(health["alive"].values()), health
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, out) == (0, "")
    assert (
        f"job synthetic: trains: {NODES} nodes, {4 * NODES} GPUs, a sample every second" in errors
    )
    assert "Traceback" not in errors


def test_a_prometheus_that_goes_away_is_told_in_a_line_and_read_on_when_it_is_back(
    case: Case,
) -> None:
    port = free_port()
    with cluster(case) as (config, _):
        with scraped(case, config, port) as server:
            process = start_up(case, "--prometheus", server.url)
            wait_until(lambda: trains(case, "synthetic"), "the job was found")
        wait_for_lines(case, " gives no answer of a Prometheus")
        with scraped(case, config, port):
            wait_for_lines(case, " again\n")
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0
    assert errors.count(" gives no answer of a Prometheus") <= 3, errors
    assert "has left" not in errors
    assert "has ended" not in errors


def test_without_labels_all_busy_hosts_of_a_list_are_one_job_and_a_line_says_so(
    case: Case,
) -> None:
    with cluster(case, "--job-labels", "none") as (_, hosts):
        process = start_up(case, "--exporters", str(hosts))
        wait_until(lambda: trains(case, "cluster"), "REST told that the job trains")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert "no label names a job, so all busy hosts are one job, cluster" in errors


def test_a_prometheus_without_gpu_metrics_is_told_in_a_line(case: Case) -> None:
    folder = case.folder / "prometheus"
    folder.mkdir()
    port = free_port()
    with prometheus(folder, [f"127.0.0.1:{port}"], port=port) as server:
        process = start_up(case, "--prometheus", server.url)
        wait_for_lines(case, "is an exporter scraped")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert errors.count("is an exporter scraped") == 1


def test_a_gpu_that_lost_half_its_tensor_activity_is_named_over_rest_within_a_minute(
    case: Case,
) -> None:
    fault = ("--fault", "tensor_loss", "--fault-node", "node-0003", "--fault-gpu", "1")
    with cluster(case, *fault, "--fault-at", "20") as (config, _), scraped(case, config) as server:
        time.sleep(60)
        process = start_up(case, "--prometheus", server.url, "--format", "jsonl")
        wait_until(lambda: bool(named(case)), "a GPU was named")
        assert named(case) == {("node-0003", 1)}
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=PATIENCE_SECONDS)
    assert [json.loads(line)["node"] for line in out.splitlines()][:1] == ["node-0003"]


def named(case: Case) -> set[tuple[str, int]]:
    verdicts = (ask(case, "/v1/verdicts") or {"verdicts": []})["verdicts"]
    return {(one["node"], one["gpu"]) for one in verdicts if one["status"] != "resolved"}


def test_telemetry_that_collect_puts_on_a_broker_is_watched_from_there(case: Case) -> None:
    with kafka_broker(case.folder) as address, cluster(case) as (_, hosts):
        port = free_port()
        collector = case.start(
            "collect", "--exporters", str(hosts), "--bus", f"kafka://{address}",
            "--metrics-port", str(port),
        )  # fmt: skip
        process = start_up(case, "--kafka", address)
        wait_until(lambda: trains(case, "synthetic"), "REST told that the job trains", 120)
        page = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5).read().decode()
        for one in (collector, process):
            one.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=PATIENCE_SECONDS)
        collector.communicate(timeout=PATIENCE_SECONDS)
    assert f'paramedic_collect_job_nodes{{job="synthetic"}} {NODES}.0' in page
    assert f"job synthetic: trains: {NODES} nodes" in errors
    assert (process.returncode, collector.returncode) == (0, 0)


def test_a_topic_that_another_tool_fills_is_watched_too(case: Case) -> None:
    with kafka_broker(case.folder) as address, told_by_an_adapter(address) as topic:
        process = start_up(case, "--kafka", address, "--kafka-topic", topic)
        wait_until(lambda: trains(case, "4711"), "REST told that the job trains", 120)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert "job 4711: trains: 2 nodes, 4 GPUs, a sample every second" in errors


@contextmanager
def told_by_an_adapter(address: str) -> Iterator[str]:
    """A topic that gets the samples of two hosts every second, one a message."""
    from kafka import KafkaProducer

    topic, over = "metrics", threading.Event()
    producer = KafkaProducer(bootstrap_servers=address)
    producer.send(topic, b"{not json").get(timeout=30)  # it makes the topic

    def tell() -> None:
        while not over.wait(1.0):
            for message in adapter_messages(time.time()):
                producer.send(topic, json.dumps(message).encode())

    teller = threading.Thread(target=tell)
    teller.start()
    try:
        yield topic
    finally:
        over.set()
        teller.join(10)
        producer.close(timeout=5)


def adapter_messages(now: float) -> Iterator[dict[str, object]]:
    stamp = datetime.fromtimestamp(now, UTC).isoformat().replace("+00:00", "Z")
    values = {"DCGM_FI_DEV_GPU_UTIL": 97, "DCGM_FI_DEV_POWER_USAGE": 300 + now % 100,
              "DCGM_FI_DEV_GPU_TEMP": 60 + now % 7, "DCGM_FI_DEV_SM_CLOCK": 1980}  # fmt: skip
    for host in ("a", "b"):
        for gpu in range(2):
            labels = {"Hostname": host, "gpu": str(gpu), "UUID": f"GPU-{host}{gpu}",
                      "hpc_job": "4711"}  # fmt: skip
            for name, value in values.items():
                told = {"__name__": name, **labels}
                yield {"labels": told, "name": name, "timestamp": stamp, "value": str(value)}
