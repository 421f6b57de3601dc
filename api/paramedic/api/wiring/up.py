"""`paramedic up`: everything around jobs that somebody else has started; it looks and tells."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from paramedic.api.wiring.agent_guard import threads_end_in_the_log
from paramedic.api.wiring.bus import RunBus, check_bus, run_bus
from paramedic.api.wiring.known_errors import known_errors_in
from paramedic.api.wiring.lines_for_people import LinesForPeople
from paramedic.api.wiring.many_jobs import ManyJobs
from paramedic.api.wiring.narrator import Narrator
from paramedic.api.wiring.run_folder import WATCH_RECORD_FILE, create_run_folder, sign_file
from paramedic.api.wiring.service_commands import Services
from paramedic.api.wiring.socket_folder import socket_folder
from paramedic.api.wiring.source_request import PASSWORD_VARIABLE, TOKEN_VARIABLE, SourceRequest
from paramedic.api.wiring.sources import check_prometheus, open_sources
from paramedic.api.wiring.telling import log_to, say, tell
from paramedic.api.wiring.translation import collect_config
from paramedic.ingest.contract import format_time

if TYPE_CHECKING:
    import socket

    from paramedic.api.settings.schema import Settings
    from paramedic.diagnosis.contract import Verdict
    from paramedic.remediation.launchers.local.service_keeper import ServiceSpec

_NAME = "up"
_NARRATOR_CLOSE_SECONDS = 2.0
_CONSOLATION = "the jobs are not touched"


@dataclass(frozen=True, slots=True)
class UpRequest:
    """What `paramedic up` was asked to do."""

    sources: SourceRequest
    """Empty where the telemetry is on the bus already."""
    run_folder: Path | None
    settings: Settings
    """With the bus on which everything meets."""
    folder: Path
    """The current folder; relative paths start there."""
    environment: Mapping[str, str]
    as_json_lines: bool
    """Whether verdicts go to standard output too."""


@dataclass(frozen=True, slots=True)
class _Place:
    run_folder: Path
    sockets: Path
    listener: socket.socket

    @property
    def logs(self) -> Path:
        return self.run_folder / "logs"

    @property
    def api(self) -> str:
        from paramedic.api.rest.loopback import address_of

        return address_of(self.listener)


def up(request: UpRequest, stdout: TextIO, stderr: TextIO) -> int:
    """Watch until a signal ends it; 0.

    Raises WiringError, IngestError, ApiError or LauncherError when something cannot work.
    """
    from paramedic.remediation.launchers.local.service_group import ServiceGroup

    with ExitStack() as stack:
        place = _prepare(request, stack)
        log_to(place.logs / "supervisor.log")
        stack.enter_context(threads_end_in_the_log())
        bus = stack.enter_context(
            run_bus(request.settings, request.environment, place.sockets, place.logs)
        )
        _start_narrator(request, bus, stack, stdout, stderr)
        say_now = partial(_say_with_time, stderr)
        lines = LinesForPeople(stack, say_now)
        _record(request, place, bus)
        _say_start(request, place, stderr)
        group = ServiceGroup(_services(request, place, bus, lines, say_now))
        group.watch(lines.read_end, lines.pass_on)
        number = group.run()
    say(stderr, f"ended by {number.name}; what was found stays in {place.run_folder}")
    return 0


def _prepare(request: UpRequest, stack: ExitStack) -> _Place:
    """Check everything before anything is started; the stack closes what is opened."""
    from paramedic.api.rest.loopback import loopback_socket

    settings = request.settings
    collect_config(settings)
    open_sources(request.sources, settings, lambda _record, _reason: None)
    check_prometheus(request.sources, settings)
    check_bus(settings, request.environment)
    known_errors_in(settings)
    listener = stack.enter_context(loopback_socket(settings.api.host, settings.api.port))
    asked_for = None if request.run_folder is None else request.folder / request.run_folder
    run_folder = create_run_folder(
        asked_for, request.folder / settings.job.runs_folder, _NAME, datetime.now(UTC)
    )
    return _Place(run_folder, stack.enter_context(socket_folder()), listener)


def _start_narrator(
    request: UpRequest, bus: RunBus, stack: ExitStack, stdout: TextIO, stderr: TextIO
) -> None:
    def print_verdict(verdict: Verdict) -> None:
        if request.as_json_lines:
            tell(stdout, f"{verdict.to_json().decode()}\n")

    jobs = ManyJobs(time.monotonic, print_verdict)
    narrator = Narrator(jobs.hear, bus.subscribe, stderr, consolation=_CONSOLATION, rest=jobs.rest)
    narrator.start()
    stack.callback(narrator.close, _NARRATOR_CLOSE_SECONDS)


def _services(
    request: UpRequest,
    place: _Place,
    bus: RunBus,
    lines: LinesForPeople,
    tell_end: Callable[[str], None],
) -> list[ServiceSpec]:
    settings, folder = request.settings, place.run_folder
    public = {
        name: value
        for name, value in request.environment.items()
        if name not in (TOKEN_VARIABLE, PASSWORD_VARIABLE)
    }
    services = Services(bus.address, folder, settings, public, tell_end, _CONSOLATION)
    sign_file(folder).touch()
    started = [
        services.diagnose(),
        services.remediate(None, place.listener.fileno()),
        *services.capture(),
    ]
    if not request.sources.is_empty:
        sign_file(folder, "collect").touch()
        secretly = replace(services, environment=request.environment)
        started.append(secretly.collect(request.sources.flags(), lines.write_end))
    return started


def _record(request: UpRequest, place: _Place, bus: RunBus) -> None:
    """Write down where everything is, for whoever comes later."""
    facts = {
        "started_at": format_time(datetime.now(UTC)),
        "process_id": os.getpid(),
        "bus": bus.address,
        "api": place.api,
        "sources": list(request.sources.flags()),
    }
    (place.run_folder / WATCH_RECORD_FILE).write_text(f"{json.dumps(facts, indent=2)}\n", "utf-8")


def _say_with_time(stderr: TextIO, line: str) -> None:
    """As the lines of jobs have it."""
    say(stderr, f"{datetime.now(UTC):%H:%M:%SZ} {line}")


def _say_start(request: UpRequest, place: _Place, stderr: TextIO) -> None:
    asked = request.sources
    named = [asked.prometheus, asked.exporters, *asked.kernel_logs, *asked.topics]
    what = ", ".join(str(one) for one in named if one) or request.settings.bus.address
    say(
        stderr,
        f"watching {what}; nothing is changed: every action is a dry run",
        f"API {place.api} (documentation at /docs), logs {place.logs}",
    )
