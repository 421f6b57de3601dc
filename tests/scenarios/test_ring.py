"""What a run keeps of its last hours can be replayed, and says what the run said."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from paramedic.api.wiring.observing import subscribe_to_all
from paramedic.api.wiring.run_folder import DATABASE_FILE
from paramedic.ingest.contract import Message, Topic
from scenarios.case import Case, wait_until

pytestmark = pytest.mark.connected
EXAMPLE = Path(__file__).parents[2] / "examples" / "train.py"


def stored_ids(run_folder: Path) -> dict[str, str]:
    """Verdicts in the run's database: id to status."""
    database = sqlite3.connect(f"file:{run_folder / DATABASE_FILE}?mode=ro", uri=True)
    try:
        return dict(database.execute("select id, status from verdicts").fetchall())
    finally:
        database.close()


def test_the_ring_of_a_run_whose_rank_was_killed_replays_to_the_run_s_verdict(case: Case) -> None:
    process = case.start_job(
        "--nproc", "3", "--spares", "1", "--job", "train",
        command=(sys.executable, str(EXAMPLE), "--steps", "100000"),
    )  # fmt: skip
    case.record()
    ring = case.run_folder / "ring"
    wait_until(lambda: any(ring.rglob("rank-*.parquet")), "ranks were recorded")
    (victim, *_rest) = sorted(case.processes(EXAMPLE.name))[1:]
    os.kill(victim, signal.SIGKILL)
    wait_until(lambda: "resolved" in stored_ids(case.run_folder).values(), "it was resolved")
    process.send_signal(signal.SIGTERM)
    case.finish(process)
    assert not any(ring.rglob("parts")), "the segments are complete"
    cut = case.run("capture", "--cut", str(ring), "--out", "cut")
    assert (cut.code, json.loads(cut.out)["job"]) == (0, "train")
    replayed = case.run("replay", "cut")
    verdicts = [json.loads(line) for line in replayed.out.splitlines()]
    assert {one["id"]: one["status"] for one in verdicts} == stored_ids(case.run_folder)
    assert [one["fault"] for one in verdicts] == ["process_exit", "process_exit"]


def test_a_run_whose_rank_was_stopped_replays_byte_for_byte(case: Case) -> None:
    """The verdicts of telemetry and of events, firing and resolved, as they were on the bus."""
    process = case.start_job(
        "--nproc", "3", "--spares", "1", "--job", "train",
        command=(sys.executable, str(EXAMPLE), "--steps", "100000"),
    )  # fmt: skip
    subscription = subscribe_to_all(case.record().bus or "")
    said: list[str] = []
    telemetry: list[Message] = []

    def heard(what: Callable[[], bool]) -> bool:
        for message in subscription.poll(0.1):
            if message.topic is Topic.VERDICTS:
                said.append(message.payload.decode())
            elif b'"training"' in message.payload or telemetry:
                telemetry.append(message)
        return what()

    wait_until(lambda: heard(lambda: len(telemetry) > 15), "it had trained for a while")
    (victim, *_rest) = sorted(case.processes(EXAMPLE.name))[1:]
    os.kill(victim, signal.SIGSTOP)
    wait_until(lambda: heard(lambda: any('"resolved"' in one for one in said)), "it was resolved")
    subscription.close()
    process.send_signal(signal.SIGTERM)
    case.finish(process)
    assert case.run("capture", "--cut", str(case.run_folder / "ring"), "--out", "cut").code == 0
    replayed = case.run("replay", "cut").out.splitlines()
    assert json.loads(said[0])["fault"] == "hang"
    assert replayed[: len(said)] == said


def test_a_run_that_keeps_no_ring_has_no_capture(case: Case) -> None:
    done = case.run_job(
        "--nproc", "1", "--set", "recording.ring_bytes=0", command=(sys.executable, "-c", "pass")
    )
    assert done.code == 0
    assert not (case.run_folder / "ring").exists()
    assert not (case.run_folder / "logs" / "capture.log").exists()
