"""`paramedic doctor` beside a real Prometheus that scrapes a cluster which trains."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from scenarios.case import Case, wait_until
from servers.prometheus import prometheus, prometheus_program

pytestmark = [
    pytest.mark.connected,
    pytest.mark.timeout(300),
    pytest.mark.skipif(prometheus_program() is None, reason="no prometheus program"),
]
NODES, GPUS = 3, 4
PAST_SECONDS = 6.0


def as_it_is(configuration: str) -> str:
    return configuration


def every_12_seconds(configuration: str) -> str:
    return configuration.replace("_interval: 1s", "_interval: 12s")


def without_profiling(configuration: str) -> str:
    drop = "{source_labels: [__name__], regex: 'DCGM_FI_PROF_.*', action: drop}"
    return configuration.replace(
        "job_name: dcgm\n", f"job_name: dcgm\n    metric_relabel_configs:\n      - {drop}\n"
    )


def with_a_host_that_is_down(configuration: str) -> str:
    """In the first job, which is that of the GPUs."""
    target = '      - targets: ["127.0.0.1:1"]\n        labels: {"node": "node-9999"}\n'
    before, static, after = configuration.partition("    static_configs:\n")
    return before + static + target + after


@contextmanager
def cluster(case: Case, *flags: str) -> Iterator[tuple[Path, Path]]:
    """Exporters of a cluster: a configuration of Prometheus, and a list of hosts."""
    scrape, hosts = case.folder / "scrape.yml", case.folder / "hosts.txt"
    process = case.start(
        "simulate", "--serve", "--nodes", str(NODES), "--gpus", str(GPUS), "--stages", "1",
        "--port", "0", "--write-prometheus", str(scrape), "--write-hosts", str(hosts), *flags,
    )  # fmt: skip
    wait_until(lambda: hosts.exists() and scrape.exists(), "the exporters were there")
    try:
        yield scrape, hosts
    finally:
        process.kill()


def doctor(
    case: Case, change: Callable[[str], str], seconds: float, past: float = PAST_SECONDS
) -> tuple[int, dict[str, Any]]:
    """Exit code and report of a look at a Prometheus with a changed configuration."""
    with cluster(case) as (scrape, _):
        scrape.write_text(change(scrape.read_text()))
        with prometheus(case.folder, (), config_file=scrape) as server:
            time.sleep(past)
            done = case.start(
                "doctor", "--prometheus", server.url, "--seconds", str(seconds), "--format", "json"
            )
            out, errors = done.communicate(timeout=120)
    assert "Traceback" not in errors, errors
    return done.returncode, json.loads(out)


def lines(document: dict[str, Any], level: str) -> list[str]:
    return [
        f"{check['subject']}: {check['text']}"
        for check in document["checks"]
        if check["level"] == level
    ]


def pasted(document: dict[str, Any], words: str) -> list[str]:
    return [
        line
        for check in document["checks"]
        if words in check["text"]
        for remedy in check["remedies"]
        for line in remedy["lines"]
    ]


def test_a_cluster_that_is_well_set_up_holds_the_promise(case: Case) -> None:
    code, document = doctor(case, as_it_is, 5)
    assert lines(document, "missing") == []
    assert code == 0
    summary = document["summary"]
    assert (summary["hosts"], summary["gpus"]) == (NODES, NODES * GPUS)
    assert (summary["cadence_seconds"], summary["jobs"]) == (1, {"synthetic": NODES * GPUS})
    assert len(summary["clock_offsets_seconds"]) == NODES
    assert {text.split(":")[0] for text in lines(document, "warning")} <= {"metrics of GPUs"}


def test_a_scrape_that_is_too_rare_does_not_hold_it(case: Case) -> None:
    code, document = doctor(case, every_12_seconds, 40, past=0)
    (missing,) = lines(document, "missing")
    assert missing.startswith("cadence of GPUs: a new value every 12 s on 3 hosts")
    assert pasted(document, "not within 60 s") == ["scrape_interval: 1s", "scrape_timeout: 1s"]
    assert code == 1


def test_profiling_metrics_that_are_dropped_are_missing_with_their_rows(case: Case) -> None:
    code, document = doctor(case, without_profiling, 5)
    assert {text.split(" (")[0] for text in lines(document, "missing")} == {
        "metrics of GPUs: tensor core activity",
        "metrics of GPUs: memory activity",
    }
    rows = pasted(document, "tensor core activity")
    assert rows == ["DCGM_FI_PROF_PIPE_TENSOR_ACTIVE, gauge, Tensor core activity."]
    assert any("no profiling metric" in text for text in lines(document, "warning"))
    assert code == 1


def test_a_host_that_is_down_is_told_with_its_reason(case: Case) -> None:
    code, document = doctor(case, with_a_host_that_is_down, 5)
    (missing,) = lines(document, "missing")
    assert "1 place gives nothing" in missing
    assert "connection refused" in missing
    assert [one.split()[0] for one in document["summary"]["silent"]] == ["node-9999:9400"]
    assert code == 1


def test_exporters_are_looked_at_without_a_prometheus_too(case: Case) -> None:
    with cluster(case, "--dialect", "si") as (_, hosts):
        gpus = [line for line in hosts.read_text().splitlines() if "/node/" not in line]
        hosts.write_text("\n".join(gpus))
        done = case.start("doctor", "--exporters", str(hosts), "--seconds", "4")
        out, errors = done.communicate(timeout=60)
    assert (done.returncode, out) == (0, "")
    assert "dcgm-exporter (4.9 or newer)" in errors
    assert "no host metrics arrive" in errors


def test_a_prometheus_that_is_none_ends_with_2(case: Case) -> None:
    done = case.run("doctor", "--prometheus", "http://127.0.0.1:1", "--seconds", "1")
    assert (done.code, len(done.lines)) == (2, 1)


def test_a_measurement_that_is_ended_leaves_nothing_behind(case: Case) -> None:
    place = case.folder / "checkpoints"
    place.mkdir()
    process = case.start("doctor", "--storage", str(place))
    wait_until(lambda: any(place.iterdir()), "it had begun to write")
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=30)
    assert (process.returncode, list(place.iterdir())) == (143, [])
    assert errors == "paramedic: ended by a signal\n"


def test_a_disk_that_is_full_is_one_line(case: Case) -> None:
    place = case.folder / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount a file system")
    try:
        done = case.run("doctor", "--storage", str(place))
    finally:
        subprocess.run(["umount", str(place)], check=True)
    assert done.code == 2
    assert done.lines == [
        f"paramedic: --storage {place}: No space left on device: make room, or name another place"
    ]
