"""`paramedic run`: checks everything, then starts the job with everything around it."""

from __future__ import annotations

import os
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TextIO

from paramedic.api.wiring.agent_guard import threads_end_in_the_log
from paramedic.api.wiring.ending import last_words
from paramedic.api.wiring.platform import Platform, start_platform
from paramedic.api.wiring.request import Place, RunRequest, prepare
from paramedic.api.wiring.run_folder import RunRecord
from paramedic.api.wiring.stored_job import is_end_stored
from paramedic.api.wiring.telling import log_to, say
from paramedic.api.wiring.translation import membership_rules
from paramedic.api.wiring.wording import counted
from paramedic.ingest.contract import Event, format_time

if TYPE_CHECKING:
    from paramedic.remediation.launchers.local.job_config import LocalJobConfig
    from paramedic.remediation.launchers.local.local_job import JobResult


def run(request: RunRequest, stderr: TextIO) -> int:
    """Run a job to its end and return the exit code for the shell.

    Raises WiringError, BusError, ApiError or LauncherError when something cannot work.
    """
    with ExitStack() as stack:
        place = prepare(request, stack, datetime.now(UTC))
        log_to(place.logs / "supervisor.log")
        stack.enter_context(threads_end_in_the_log())
        platform = None if request.bare else start_platform(request, place, stack, stderr)
        record = _record(place, platform)
        record.write(place.run_folder)
        _say_start(request, record, place, stderr)
        result = _run_job(request, place, platform)
    say(stderr, *last_words(result, place))
    return result.exit_code


def _run_job(request: RunRequest, place: Place, platform: Platform | None) -> JobResult:
    from paramedic.remediation.launchers.local.local_job import LocalJob

    config = job_config(request, place, has_agent=platform is not None)
    if platform is None:
        return LocalJob(config, _forget).run()
    return LocalJob(
        config,
        platform.publish,
        services=platform.services,
        services_are_done=lambda: is_end_stored(place.run_folder, place.job),
    ).run()


def job_config(request: RunRequest, place: Place, *, has_agent: bool) -> LocalJobConfig:
    """What the launcher needs to know."""
    from paramedic.remediation.launchers.local.job_config import LocalJobConfig

    return LocalJobConfig(
        job=place.job,
        command=place.command,
        rules=membership_rules(request.settings),
        run_folder=place.run_folder,
        control_socket=place.control_socket,
        telemetry_socket=place.telemetry_socket if has_agent else None,
        checkpoint_interval_seconds=request.settings.checkpoint.interval_seconds,
        base_environment=request.environment,
        working_folder=request.folder,
    )


def _record(place: Place, platform: Platform | None) -> RunRecord:
    return RunRecord(
        job=place.job,
        command=place.command,
        started_at=format_time(datetime.now(UTC)),
        process_id=os.getpid(),
        bus=None if platform is None else platform.bus_address,
        api=None if platform is None else platform.api_address,
        control_socket=str(place.control_socket),
        telemetry_socket=None if platform is None else str(place.telemetry_socket),
    )


def _say_start(request: RunRequest, record: RunRecord, place: Place, stderr: TextIO) -> None:
    job = request.settings.job
    size = f"{counted(job.ranks, 'rank')}, {counted(job.spares, 'spare')}"
    lines = [f"job {place.job}: {size}, run folder {place.run_folder}"]
    if record.api is not None:
        lines.append(f"API {record.api} (documentation at /docs), logs {place.logs}")
    say(stderr, *lines)


def _forget(_event: Event) -> None:
    """A bare run tells nobody."""
