"""Child processes that cannot outlive the supervisor, and whose exit is a readable descriptor."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramedic.remediation.launchers.local.exit_status import ExitStatus
from paramedic.remediation.launchers.port import LauncherSetupError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
# Loaded before any fork: between fork and exec nothing may be imported or loaded.
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessSpec:
    """What to start and with what around it."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    log_path: Path
    """Standard output and standard error are appended here."""
    working_folder: Path | None = None
    pass_fds: tuple[int, ...] = ()


class ChildProcess:
    """A started process, leader of its own session and process group."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.exit_descriptor = os.pidfd_open(process.pid)
        """Becomes readable when the process has exited."""

    @property
    def process_id(self) -> int:
        """The process's id, which is also the id of its group."""
        return self._process.pid

    @property
    def has_exited(self) -> bool:
        """Whether it has ended, perhaps without having been reaped."""
        look = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return (
            self._process.returncode is not None
            or os.waitid(os.P_PID, self._process.pid, look) is not None
        )

    def signal_group(self, number: signal.Signals) -> None:
        """Signal the process and all that it started; harmless when all are gone."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)

    def reap(self) -> ExitStatus:
        """How it ended; waits for the end. What is left of its group is killed before.

        The group goes first because its id is certain only while the leader is not reaped.
        """
        os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        self.signal_group(signal.SIGKILL)
        status = ExitStatus.of_return_code(self._process.wait())
        os.close(self.exit_descriptor)
        return status


def start_process(spec: ProcessSpec) -> ChildProcess:
    """Start a process whose end follows the supervisor's, even that by SIGKILL.

    Call it from the main thread: the kernel ends the child with the thread that started it.
    Raises LauncherSetupError when the command cannot be executed or its log cannot be written.
    """
    supervisor_id = os.getpid()

    def follow_the_supervisor() -> None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != supervisor_id:  # it died before prctl was called
            os._exit(1)

    try:
        with spec.log_path.open("ab") as log:
            process = subprocess.Popen(
                spec.command,
                env=dict(spec.environment),
                cwd=spec.working_folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=spec.pass_fds,
                preexec_fn=follow_the_supervisor,  # noqa: PLW1509 - it only calls into loaded C
            )
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise LauncherSetupError(_cannot_start(spec, error)) from error
    return _watched(process)


def _watched(process: subprocess.Popen[bytes]) -> ChildProcess:
    try:
        return ChildProcess(process)
    except OSError as error:
        process.kill()
        process.wait()
        raise LauncherSetupError(
            f"process {process.pid} cannot be watched: pidfd_open: {error.strerror}: "
            "Linux 5.3 or newer and a free file descriptor are needed"
        ) from error


def _cannot_start(spec: ProcessSpec, error: Exception) -> str:
    folder = spec.working_folder or "the current folder"
    why = error.strerror if isinstance(error, OSError) else str(error)
    return (
        f"cannot start {' '.join(spec.command)!r} in {folder}: {why}: {_what_to_check(spec, error)}"
    )


def _what_to_check(spec: ProcessSpec, error: Exception) -> str:
    named = error.filename if isinstance(error, OSError) else None
    if named is not None and str(named) == str(spec.log_path):
        return f"check that {spec.log_path} can be written"
    if spec.working_folder is not None and not spec.working_folder.is_dir():
        return "check the working folder"
    return f"check that {spec.command[0]!r} is a program on the PATH and may be executed"
