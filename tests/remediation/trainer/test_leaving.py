"""How a worker leaves: at the end, when told to, without its supervisor, by its own error."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from remediation.trainer.conftest import Job
    from remediation.trainer.scripted_supervisor import Worker

pytestmark = [pytest.mark.connected, pytest.mark.timeout(200)]

StartJob = Callable[..., "AbstractContextManager[Job]"]


def wait_for_exits(job: Job, workers: list[Worker]) -> list[int | None]:
    job.supervisor.run_until(lambda: all(w.process.poll() is not None for w in workers))
    return [worker.process.returncode for worker in workers]


def test_stop_ends_ranks_and_spares_with_0_and_without_what_follows_the_loop(
    start_job: StartJob,
) -> None:
    with start_job("--steps", "100000", ranks=2, spares=1) as job:
        supervisor = job.supervisor
        supervisor.replaces = False
        supervisor.run_until(supervisor.is_training)
        supervisor.run_until(lambda: all(worker.ready for worker in supervisor.workers))
        for worker in supervisor.workers:
            supervisor.tell(worker, {"type": "stop"})
        assert wait_for_exits(job, supervisor.workers) == [0, 0, 0]
        assert job.digests() == {}
        assert "Traceback" not in supervisor.logs()


def test_a_lost_supervisor_ends_ranks_and_spares_with_3_and_one_line(start_job: StartJob) -> None:
    with start_job("--steps", "100000", ranks=2, spares=1) as job:
        supervisor = job.supervisor
        supervisor.replaces = False
        supervisor.run_until(supervisor.is_training)
        supervisor.run_until(lambda: all(worker.ready for worker in supervisor.workers))
        for worker in supervisor.workers:
            assert worker.connection is not None
            worker.connection.shutdown(2)
        assert wait_for_exits(job, supervisor.workers) == [3, 3, 3]
        for worker in supervisor.workers:
            assert worker.log.read_text().count("\n") == 1
            assert "paramedic: the supervisor closed" in worker.log.read_text()


def test_a_loop_that_every_rank_leaves_early_is_finished(start_job: StartJob) -> None:
    with start_job("--steps", "100000", "--break-at", "20", ranks=3, spares=0) as job:
        assert len(set(job.train_to_the_end().values())) == 1
        assert [one.fields["step"] for one in job.supervisor.said("finished")] == [20] * 3
        assert [worker.process.returncode for worker in job.supervisor.workers] == [0, 0, 0]
        assert "Traceback" not in job.supervisor.logs()


def test_a_rank_that_alone_leaves_early_leaves_the_others_waiting_for_the_supervisor(
    start_job: StartJob,
) -> None:
    options = ("--steps", "100000", "--break-at", "20", "--break-rank", "1")
    with start_job(*options, ranks=3, spares=0) as job:
        supervisor = job.supervisor
        supervisor.replaces = False
        supervisor.run_until(lambda: len(supervisor.said("failed", generation=0)) == 2)
        assert [(one.node, one.fields["step"]) for one in supervisor.said("finished")] == [
            ("node-0001", 20)
        ]
        assert {one.node for one in supervisor.said("failed")} == {"node-0000", "node-0002"}
        for worker in supervisor.workers:
            supervisor.tell(worker, {"type": "stop"})
        assert wait_for_exits(job, supervisor.workers) == [0, 0, 0]
        assert len(supervisor.said("finished")) == 1, "who was told to stop has not finished"


@pytest.mark.parametrize(
    ("option", "mistake"),
    [("--fail-at", "the user's own mistake"), ("--fail-after", "a mistake beside the step")],
)
def test_an_error_of_the_user_s_ends_the_process_as_it_would_without_us(
    start_job: StartJob, option: str, mistake: str
) -> None:
    with start_job("--steps", "50", option, "5", ranks=2, spares=0) as job:
        job.supervisor.replaces = False
        assert wait_for_exits(job, job.supervisor.workers) == [1, 1]
        assert f"RuntimeError: {mistake}" in job.supervisor.workers[0].log.read_text()
        job.supervisor.run_for(0.1)
        assert job.supervisor.said("finished") == []


def test_the_end_is_quiet_and_every_rank_says_its_last_step(start_job: StartJob) -> None:
    with start_job("--steps", "30", ranks=3, spares=0) as job:
        assert set(job.train_to_the_end()) == {0, 1, 2}
        assert [one.fields["step"] for one in job.supervisor.said("finished")] == [29] * 3
        assert [worker.log.read_text() for worker in job.supervisor.workers] == ["", "", ""]
        assert [worker.process.returncode for worker in job.supervisor.workers] == [0, 0, 0]


def test_a_dead_telemetry_channel_stops_nothing(start_job: StartJob, tmp_path: Path) -> None:
    channel = {"PARAMEDIC_TELEMETRY_SOCKET": str(tmp_path / "nobody.sock")}
    with start_job("--steps", "40", ranks=2, spares=0, **channel) as job:
        assert len(set(job.train_to_the_end().values())) == 1
