"""A real Prometheus for connected tests, scraping once a second, started on a free port."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_UNPACKED = Path(__file__).parents[2] / ".tools" / "usr" / "bin" / "prometheus"
_START_SECONDS = 30.0
_LOOK_SECONDS = 0.1


@dataclass(frozen=True)
class PrometheusServer:
    """One that runs."""

    url: str
    process: subprocess.Popen[bytes]

    def is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/-/ready", timeout=1) as answer:
                return int(answer.status) == 200
        except (urllib.error.URLError, OSError):
            return False


def prometheus_program() -> str | None:
    """Where the program is: on the PATH, or unpacked by `tools/fetch_system_tools.sh`."""
    return shutil.which("prometheus") or (str(_UNPACKED) if _UNPACKED.exists() else None)


@contextmanager
def prometheus(
    folder: Path,
    targets: Sequence[str],
    interval: str = "1s",
    options: Sequence[str] = (),
    port: int | None = None,
    job: str = "dcgm",
    config_file: Path | None = None,
) -> Iterator[PrometheusServer]:
    """One that scrapes the targets (`host:port`), or what a file says, while the context lasts.

    Its data stay in the folder, so that the next one there has a past; its output goes to a file.
    """
    program = prometheus_program()
    if program is None:
        raise FileNotFoundError("no prometheus program: run tools/fetch_system_tools.sh")
    configuration = config_file or folder / "prometheus.yml"
    if config_file is None:
        configuration.write_text(json.dumps(_configuration(targets, interval, job)))  # JSON is YAML
    port = port or free_port()
    command = [
        program,
        f"--config.file={configuration}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
        *options,
    ]
    environment = {**os.environ, "GOMAXPROCS": "1"}
    with (folder / "prometheus.log").open("ab") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment
        )
    server = PrometheusServer(f"http://127.0.0.1:{port}", process)
    try:
        _wait_until_ready(server, folder / "prometheus.log")
        yield server
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _configuration(targets: Sequence[str], interval: str, job: str) -> dict[str, object]:
    return {
        "global": {"scrape_interval": interval, "scrape_timeout": interval},
        "scrape_configs": [{"job_name": job, "static_configs": [{"targets": list(targets)}]}],
    }


def _wait_until_ready(server: PrometheusServer, log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not server.is_ready():
        if server.process.poll() is not None or time.monotonic() >= deadline:
            raise RuntimeError(f"prometheus did not start: {log.read_text()[-2000:]}")
        time.sleep(_LOOK_SECONDS)
