"""A lost rank costs no step and no bit: real processes, real kills."""

from __future__ import annotations

import random
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from remediation.trainer.conftest import Job

pytestmark = [pytest.mark.connected, pytest.mark.timeout(300)]

StartJob = Callable[..., "AbstractContextManager[Job]"]

_RANKS = 3
_STEPS = "120"


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The digest of a run that nobody disturbs."""
    from remediation.trainer.conftest import Job
    from remediation.trainer.scripted_supervisor import supervise

    folder = tmp_path_factory.mktemp("undisturbed")
    script = Path(__file__).with_name("tiny_training.py")
    command = [str(script), "--out", str(folder), "--steps", _STEPS]
    with supervise(command, folder / "run", _RANKS, 0) as supervisor:
        digests = Job(supervisor, folder).train_to_the_end()
    assert set(digests) == set(range(_RANKS))
    (digest,) = set(digests.values())
    return digest


def settle(job: Job) -> None:
    """Train for a moment that is different each time."""
    job.supervisor.run_until(job.supervisor.is_training)
    job.supervisor.run_for(random.uniform(0.05, 0.5))


def wait_for_recovery(job: Job, generation: int) -> None:
    supervisor = job.supervisor
    supervisor.run_until(lambda: supervisor.generation > generation and supervisor.is_training())


def assert_as_undisturbed(job: Job, undisturbed: str) -> None:
    assert job.train_to_the_end() == dict.fromkeys(range(_RANKS), undisturbed)


@pytest.mark.parametrize("rank", range(_RANKS))
def test_a_killed_rank_changes_nothing(start_job: StartJob, undisturbed: str, rank: int) -> None:
    with start_job("--steps", _STEPS, ranks=_RANKS, spares=1) as job:
        settle(job)
        job.supervisor.kill(rank)
        wait_for_recovery(job, 0)
        assert_as_undisturbed(job, undisturbed)


def test_kills_in_a_row_change_nothing(start_job: StartJob, undisturbed: str) -> None:
    with start_job("--steps", _STEPS, "--pause-seconds", "0.02", ranks=_RANKS, spares=4) as job:
        for generation in range(4):
            settle(job)
            job.supervisor.kill(random.randrange(_RANKS))
            wait_for_recovery(job, generation)
        assert_as_undisturbed(job, undisturbed)


def test_two_ranks_at_once_with_one_spare(start_job: StartJob, undisturbed: str) -> None:
    with start_job("--steps", _STEPS, ranks=_RANKS, spares=1) as job:
        settle(job)
        job.supervisor.kill(0, 2)
        wait_for_recovery(job, 0)
        assert_as_undisturbed(job, undisturbed)


def test_a_frozen_rank_that_is_killed_later(start_job: StartJob, undisturbed: str) -> None:
    with start_job("--steps", _STEPS, ranks=_RANKS, spares=1) as job:
        settle(job)
        job.supervisor.kill(1, with_signal=signal.SIGSTOP)
        job.supervisor.run_for(1.0)
        assert not job.supervisor.said("failed"), "a pause is no failure"
        job.supervisor.kill(1)
        wait_for_recovery(job, 0)
        assert_as_undisturbed(job, undisturbed)


def test_a_rank_that_dies_while_the_others_regroup(start_job: StartJob, undisturbed: str) -> None:
    with start_job("--steps", _STEPS, ranks=_RANKS, spares=2) as job:
        settle(job)
        job.supervisor.kill(1)
        job.supervisor.run_until(lambda: bool(job.supervisor.said("store", generation=1)))
        job.supervisor.kill(0)
        wait_for_recovery(job, 1)
        assert_as_undisturbed(job, undisturbed)


def test_a_member_that_never_comes_keeps_nobody_in_the_meeting(
    start_job: StartJob, undisturbed: str
) -> None:
    with start_job("--steps", _STEPS, ranks=_RANKS, spares=2) as job:
        settle(job)
        spare = next(w for w in job.supervisor.workers if w.rank is None)
        spare.process.send_signal(signal.SIGSTOP)
        job.supervisor.kill(1)
        job.supervisor.run_until(lambda: bool(job.supervisor.said("store", generation=1)))
        job.supervisor.run_for(0.5)
        spare.process.kill()
        wait_for_recovery(job, 1)
        assert_as_undisturbed(job, undisturbed)


def test_a_generation_that_breaks_with_everybody_alive(
    start_job: StartJob, undisturbed: str
) -> None:
    with start_job("--steps", _STEPS, ranks=_RANKS, spares=0) as job:
        for generation in range(3):
            settle(job)
            job.supervisor.end_generation()
            wait_for_recovery(job, generation)
        assert_as_undisturbed(job, undisturbed)


def test_when_all_die_the_newest_checkpoint_is_loaded(
    start_job: StartJob, undisturbed: str, tmp_path: Path
) -> None:
    variables = {
        "PARAMEDIC_CHECKPOINT_FOLDER": str(tmp_path / "checkpoints"),
        "PARAMEDIC_CHECKPOINT_INTERVAL_SECONDS": "0.3",
    }
    with start_job("--steps", _STEPS, "--pause-seconds", "0.02", spares=0, **variables) as job:
        supervisor = job.supervisor
        supervisor.run_until(lambda: len(supervisor.said("checkpoint", result="saved")) > 2)
        supervisor.kill(*range(_RANKS))
        wait_for_recovery(job, 0)
        (loaded,) = supervisor.said("checkpoint", result="loaded")
        assert loaded.fields["step"] > 0
        assert_as_undisturbed(job, undisturbed)


def test_the_lost_step_is_the_first_one_of_the_new_generation(start_job: StartJob) -> None:
    with start_job("--steps", _STEPS, ranks=_RANKS, spares=1) as job:
        settle(job)
        job.supervisor.kill(2)
        wait_for_recovery(job, 0)
        known = [one.fields["step"] for one in job.supervisor.said("failed", generation=0)]
        first = [one.fields["step"] for one in job.supervisor.said("committed", generation=1)]
        assert min(first) == max(known) + 1


def test_a_step_that_only_some_have_committed_is_taken_over_by_the_rest(
    start_job: StartJob, undisturbed: str
) -> None:
    with start_job("--steps", _STEPS, "--split-at", "40", ranks=_RANKS, spares=1) as job:
        wait_for_recovery(job, 0)
        newest = {
            one.node: one.fields["step"] for one in job.supervisor.said("failed", generation=0)
        }
        assert newest == {"node-0000": 40, "node-0002": 39}
        assert_as_undisturbed(job, undisturbed)


def test_a_rank_that_dies_in_the_last_step_finds_the_others_waiting(
    start_job: StartJob, undisturbed: str
) -> None:
    last = str(int(_STEPS) - 1)
    with start_job("--steps", _STEPS, "--split-at", last, ranks=_RANKS, spares=1) as job:
        assert_as_undisturbed(job, undisturbed)
