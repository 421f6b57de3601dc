"""What the README promises, on one real training that loses a rank."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path

import pytest

from paramedic.api.wiring.observing import placements, subscribe_to_all
from paramedic.api.wiring.run_folder import DATABASE_FILE, RunRecord
from paramedic.diagnosis.contract import Status, Verdict
from paramedic.ingest.contract import Message, Topic
from scenarios.case import Case, Finished, wait_until

pytestmark = [pytest.mark.connected, pytest.mark.timeout(300)]

TRAIN = Path(__file__).parents[2] / "examples" / "train.py"


class Listener:
    """Everything that was on the verdict and event topics."""

    def __init__(self, bus: str) -> None:
        self._subscription = subscribe_to_all(bus)
        self.messages: list[Message] = []

    def hear(self, topic: Topic) -> list[bytes]:
        self.messages += self._subscription.poll(0.0)
        return [one.payload for one in self.messages if one.topic is topic]

    def trains(self, generation: int) -> bool:
        events = [json.loads(payload) for payload in self.hear(Topic.EVENTS)]
        return any(
            event.get("state") == "training" and event["generation"] == generation
            for event in events
        )

    def verdicts(self) -> dict[str, bytes]:
        """The newest words about each verdict."""
        return {Verdict.from_json(one).id: one for one in self.hear(Topic.VERDICTS)}

    def close(self) -> None:
        self._subscription.close()


@contextmanager
def a_training_that_loses_rank_one(case: Case) -> Iterator[tuple[RunRecord, Listener]]:
    """A real training after its recovery, still running."""
    command = (sys.executable, str(TRAIN), "--steps", "100000")
    case.start_job("--nproc", "2", "--job", "train", command=command)
    record = case.record()
    with closing(Listener(record.bus or "")) as listener:
        wait_until(lambda: listener.trains(0), "the job trained", 120.0)
        (victim,) = [
            one.process_id for one in placements(Path(record.control_socket), "train") if one.rank
        ]
        assert victim is not None
        os.kill(victim, signal.SIGKILL)
        wait_until(lambda: listener.trains(1), "the job trained again", 120.0)
        wait_until(lambda: _is_resolved(listener), "the verdict was resolved")
        yield record, listener


def _is_resolved(listener: Listener) -> bool:
    states = [Verdict.from_json(one).status for one in listener.verdicts().values()]
    return bool(states) and set(states) == {Status.RESOLVED}


def fetch(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=5) as answer:
        body: bytes = answer.read()
        return body


def test_a_training_that_loses_a_rank_keeps_every_promise(case: Case) -> None:
    with a_training_that_loses_rank_one(case) as (record, listener):
        ((verdict_id, on_the_topic),) = listener.verdicts().items()
        wait_until(
            lambda: fetch(f"{record.api}/v1/verdicts/{verdict_id}") == on_the_topic,
            "the API gave the very bytes of the verdict topic",
        )
        assert json.loads(fetch(f"{record.api}/healthz")) == {
            "status": "ok",
            "alive": {"database": True, "remediate": True, "bus": True, "diagnose": True},
        }
        check_metrics(fetch(f"{record.api}/metrics"))
    done = end(case)
    says_where_everything_is(done, record, case)
    the_ledger_adds_up_to_wall_time(case, done)


def check_metrics(page: bytes) -> None:
    assert b'paramedic_verdicts{fault="process_exit",severity="P1",status="resolved"} 1.0' in page
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed (Debian package prometheus)")
    checked = subprocess.run(
        [promtool, "check", "metrics"], input=page, capture_output=True, timeout=20, check=False
    )
    assert (checked.returncode, checked.stderr) == (0, b"")


def end(case: Case) -> Finished:
    (process,) = case.started
    process.send_signal(signal.SIGINT)
    done = case.finish(process)
    assert done.code == 130
    assert done.out == ""
    return done


def says_where_everything_is(done: Finished, record: RunRecord, case: Case) -> None:
    assert f"run folder {case.run_folder}" in done.lines[0]
    assert str(record.api) in done.lines[1]
    assert f"logs {case.run_folder / 'logs'}" in done.lines[1]
    assert done.lines[-1].endswith("every process has been ended")


def the_ledger_adds_up_to_wall_time(case: Case, done: Finished) -> None:
    rows, (started_at, ended_at, goodput) = _books(case.run_folder / DATABASE_FILE)
    assert [row[1] for row in rows] == [*(row[0] for row in rows[1:]), ended_at]
    assert rows[0][0] == started_at
    productive = sum(end - start for start, end, spent_on in rows if spent_on == "productive")
    assert goodput == pytest.approx(productive / (ended_at - started_at))
    assert {"starting", "productive", "recovery"} <= {row[2] for row in rows}
    began = datetime.fromisoformat(case.record().started_at).timestamp()
    # The job starts within a moment of the run, whose record is dated to the microsecond.
    assert 0 <= started_at / 1e6 - began < 5


def _books(database: Path) -> tuple[Sequence[tuple[int, int, str]], tuple[int, int, float]]:
    with closing(sqlite3.connect(database)) as connection:
        rows = connection.execute(
            "select started_at, ended_at, spent_on from ledger order by started_at"
        ).fetchall()
        (job,) = connection.execute("select started_at, ended_at, goodput from jobs").fetchall()
    return rows, job
