"""The way in: run a local job, and what became of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramedic.remediation.launchers.local.clock import Clock, SystemClock
from paramedic.remediation.launchers.local.commands import JobEnd, JobOver
from paramedic.remediation.launchers.local.event_loop import EventLoop
from paramedic.remediation.launchers.local.log_tail import last_line
from paramedic.remediation.launchers.local.signal_requests import SignalRequests
from paramedic.remediation.launchers.local.supervisor import Supervisor
from paramedic.remediation.launchers.port import LauncherSetupError

if TYPE_CHECKING:
    from pathlib import Path

    from paramedic.ingest.contract import Event, NodeName
    from paramedic.remediation.launchers.local.exit_status import ExitStatus
    from paramedic.remediation.launchers.local.job_config import LocalJobConfig
    from paramedic.remediation.launchers.local.service_keeper import ServiceSpec

_FAILURE_CODE = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class JobResult:
    """What became of a job."""

    end: JobEnd
    exit_code: int
    """For the shell: 0, the failed worker's code, or 128 plus a signal."""
    reason: str
    node: NodeName | None = None
    """The first worker that failed, if one did; so are the fields below."""
    rank: int | None = None
    status: ExitStatus | None = None
    log_path: Path | None = None
    last_line: str | None = None
    """The last line of its log that is not blank."""


class LocalJob:
    """A job of child processes with services beside it."""

    def __init__(
        self,
        config: LocalJobConfig,
        publish: Callable[[Event], None],
        clock: Clock | None = None,
        services: Sequence[ServiceSpec] = (),
        services_are_done: Callable[[], bool] = lambda: True,
    ) -> None:
        """Both are called in the loop and raise nothing; `publish` must return at once.

        At the end of the job the services go on until they are done, within bounds.
        """
        self._config = config
        clock = clock or SystemClock()
        self._loop = EventLoop(clock)
        self._supervisor = Supervisor(
            config, publish, clock, self._loop, tuple(services), services_are_done
        )

    def run(self) -> JobResult:
        """Run until the job is over and no process of it is left. For the main thread, once.

        Raises LauncherSetupError when the job can never be started like this.
        """
        try:
            with SignalRequests(self._loop.wake_descriptor) as signals:
                over = self._run_and_clean_up(signals)
        finally:
            self._loop.close()
        return self._result(over)

    def stop(self, reason: str) -> None:
        """End the job from another thread; a second call ends it at once."""
        self._supervisor.ask_to_stop(reason)

    def _run_and_clean_up(self, signals: SignalRequests) -> JobOver:
        try:
            _make_folders(self._config)
            return self._supervisor.run(signals.take)
        finally:
            self._supervisor.close()

    def _result(self, over: JobOver) -> JobResult:
        log_path = None if over.node is None else self._config.log_path(over.node)
        return JobResult(
            end=over.end,
            exit_code=self._exit_code(over),
            reason=over.reason,
            node=over.node,
            rank=over.rank,
            status=over.status,
            log_path=log_path,
            last_line=None if log_path is None else last_line(log_path),
        )

    def _exit_code(self, over: JobOver) -> int:
        match over.end:
            case JobEnd.FINISHED:
                return 0
            case JobEnd.STOPPED:
                return self._supervisor.stop_code
            case JobEnd.FAILED:
                return (over.status.shell_code if over.status else 0) or _FAILURE_CODE


def _make_folders(config: LocalJobConfig) -> None:
    try:
        config.log_folder.mkdir(parents=True, exist_ok=True)
        config.checkpoint_folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LauncherSetupError(
            f"run folder {config.run_folder}: {error.strerror}: choose a folder that can be written"
        ) from error
