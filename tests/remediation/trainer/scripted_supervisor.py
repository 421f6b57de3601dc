"""A small supervisor for tests: the control protocol of docs/architecture.md, standard library.

It starts real processes of a script, hands out generations, replaces workers that die, and keeps
every message with its arrival time. The test decides who is killed and when.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_POLL_SECONDS = 0.05
_REGROUP_SECONDS = 1.0
"""How long a `failed` may stay without an exit that explains it."""


@dataclass(slots=True)
class Worker:
    """One process of the script."""

    node: str
    process: subprocess.Popen[bytes]
    log: Path
    rank: int | None = None
    connection: socket.socket | None = None
    inbox: bytes = b""
    ready: bool = False
    exit_seen: bool = False
    finished: bool = False


@dataclass(frozen=True, slots=True)
class Heard:
    """A message from a worker."""

    at: float
    """Monotonic seconds."""
    node: str
    fields: dict[str, Any]


@dataclass(slots=True)
class ScriptedSupervisor:
    """Runs one job. Use `supervise` to start and, in all cases, end it."""

    command: list[str]
    folder: Path
    ranks: int
    spares: int
    variables: dict[str, str] = field(default_factory=dict)
    heard: list[Heard] = field(default_factory=list)
    workers: list[Worker] = field(default_factory=list)
    generation: int = 0
    replaces: bool = True
    """Whether a dead rank gets a successor."""
    _listener: socket.socket = field(init=False)
    _selector: selectors.DefaultSelector = field(default_factory=selectors.DefaultSelector)
    _socket_path: Path = field(init=False)
    _forming: bool = True
    _store_port: int | None = None
    _broken_at: float | None = None

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        sockets = Path(tempfile.mkdtemp(prefix="pm-"))
        self._socket_path = sockets / "control.sock"
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(self._socket_path))
        self._listener.listen()
        self._selector.register(self._listener, selectors.EVENT_READ, None)
        for rank in range(self.ranks):
            self.start_worker(rank)
        for _ in range(self.spares):
            self.start_worker(None)

    # Workers

    def start_worker(self, rank: int | None) -> Worker:
        node = f"node-{len(self.workers):04d}"
        log = self.folder / f"{node}.log"
        environment = os.environ | self._variables(node, rank) | self.variables
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, *self.command],
                env=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        worker = Worker(node, process, log, rank)
        self.workers.append(worker)
        return worker

    def _variables(self, node: str, rank: int | None) -> dict[str, str]:
        variables = {
            "PARAMEDIC_JOB": "scripted",
            "PARAMEDIC_NODE": node,
            "PARAMEDIC_CONTROL_SOCKET": str(self._socket_path),
            "OMP_NUM_THREADS": "1",
        }
        if rank is not None:
            variables |= {"RANK": str(rank), "WORLD_SIZE": str(self.ranks)}
        return variables

    def carrier(self, rank: int) -> Worker:
        """The living worker that carries this rank."""
        return next(w for w in self.workers if w.rank == rank and not w.exit_seen)

    def kill(self, *ranks: int, with_signal: signal.Signals = signal.SIGKILL) -> None:
        for rank in ranks:
            self.carrier(rank).process.send_signal(with_signal)

    # The protocol

    def turn(self, timeout_seconds: float = _POLL_SECONDS) -> None:
        """Take what has arrived, look for exits, and form a generation when all are there."""
        for key, _ in self._selector.select(timeout_seconds):
            if key.data is None:
                self._accept()
            else:
                self._read(key.data)
        self._look_for_exits()
        self._regroup_if_broken()
        self._form()

    def _accept(self) -> None:
        connection, _ = self._listener.accept()
        line = b""
        while not line.endswith(b"\n"):
            line += connection.recv(1)
        fields = json.loads(line)
        worker = next(w for w in self.workers if w.node == fields["node"])
        worker.connection = connection
        self._selector.register(connection, selectors.EVENT_READ, worker)
        self._hear(worker, fields)

    def _read(self, worker: Worker) -> None:
        assert worker.connection is not None
        try:
            data = worker.connection.recv(65536)
        except ConnectionError:
            data = b""
        if not data:
            self._selector.unregister(worker.connection)
            worker.connection.close()
            worker.connection = None
        *lines, worker.inbox = (worker.inbox + data).split(b"\n")
        for line in lines:
            self._hear(worker, json.loads(line))

    def _hear(self, worker: Worker, fields: dict[str, Any]) -> None:
        self.heard.append(Heard(time.monotonic(), worker.node, fields))
        match fields["type"]:
            case "ready":
                worker.ready = True
            case "store" if fields["generation"] == self.generation:
                self._store_port = fields["port"]
                self._assign_others()
            case "failed" if fields["generation"] == self.generation and not self._forming:
                self._broken_at = self._broken_at or time.monotonic()
            case "finished":
                worker.finished = True

    def _look_for_exits(self) -> None:
        dead = [w for w in self.workers if not w.exit_seen and w.process.poll() is not None]
        for worker in dead:
            worker.exit_seen = True
        lost = [w for w in dead if w.rank is not None and not w.finished]
        if not lost or not self.replaces:
            return
        self.end_generation()
        for worker in lost:
            self._fill(worker)

    def _fill(self, lost: Worker) -> None:
        rank, lost.rank = lost.rank, None
        spares = [w for w in self.workers if w.rank is None and not w.exit_seen]
        if spares:
            spares[0].rank = rank
        else:
            self.start_worker(rank)

    def end_generation(self) -> None:
        """Abort the running generation; the next one forms when everybody is ready."""
        self._broken_at = None
        if self._forming:
            return
        self._forming = True
        for worker in self._carriers():
            self.tell(worker, {"type": "abort", "generation": self.generation})
        self.generation += 1
        self._store_port = None

    def _regroup_if_broken(self) -> None:
        if self._broken_at is not None and time.monotonic() - self._broken_at > _REGROUP_SECONDS:
            self.end_generation()

    def _carriers(self) -> list[Worker]:
        return [w for w in self.workers if w.rank is not None and not w.exit_seen]

    def _form(self) -> None:
        carriers = self._carriers()
        if not self._forming or len(carriers) != self.ranks:
            return
        if not all(w.ready and w.connection is not None for w in carriers):
            return
        self._forming = False
        self._assign(self.carrier(0), None)

    def _assign_others(self) -> None:
        for worker in self._carriers():
            if worker.rank != 0:
                self._assign(worker, self._store_port)

    def _assign(self, worker: Worker, port: int | None) -> None:
        message = {
            "type": "assign",
            "generation": self.generation,
            "rank": worker.rank,
            "world_size": self.ranks,
            "store_host": "127.0.0.1",
            "store_port": port,
        }
        self.tell(worker, message)

    def tell(self, worker: Worker, message: dict[str, Any]) -> None:
        if worker.connection is not None:
            with contextlib.suppress(ConnectionError):
                worker.connection.sendall(json.dumps(message).encode() + b"\n")

    # For tests

    def said(self, kind: str, **expected: Any) -> list[Heard]:
        """Every message of this kind whose fields are as expected."""
        return [
            one
            for one in self.heard
            if one.fields["type"] == kind
            and all(one.fields.get(name) == value for name, value in expected.items())
        ]

    def run_until(self, condition: Callable[[], bool], timeout_seconds: float = 150.0) -> None:
        """Serve the workers until the condition holds. Raises TimeoutError with their logs."""
        end = time.monotonic() + timeout_seconds
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError(f"still waiting after {timeout_seconds} s\n{self.logs()}")
            self.turn()

    def run_for(self, seconds: float) -> None:
        """Serve the workers for some time."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.turn(min(left, _POLL_SECONDS))

    def is_training(self) -> bool:
        """Whether every rank has committed a step of the present generation."""
        done = {one.node for one in self.said("committed", generation=self.generation)}
        carriers = self._carriers()
        return len(carriers) == self.ranks and {w.node for w in carriers} <= done

    def is_finished(self) -> bool:
        """Whether every rank has left its loop and its process has exited."""
        done = [w for w in self.workers if w.finished]
        return len(done) == self.ranks and all(w.process.poll() is not None for w in done)

    def logs(self) -> str:
        """What the workers have written, and what they have said."""
        texts = [f"== {w.node} rank {w.rank}\n{w.log.read_text()[-3000:]}" for w in self.workers]
        said = [f"{one.at:.3f} {one.node} {one.fields}" for one in self.heard]
        return "\n".join(texts + said)

    def end(self) -> None:
        """Kill and reap whatever is left."""
        for worker in self.workers:
            if worker.process.poll() is None:
                worker.process.kill()
            worker.process.wait(10)
            if worker.connection is not None:
                worker.connection.close()
        self._selector.close()
        self._listener.close()
        self._socket_path.unlink(missing_ok=True)
        self._socket_path.parent.rmdir()


@contextlib.contextmanager
def supervise(
    command: list[str], folder: Path, ranks: int, spares: int, **variables: str
) -> Iterator[ScriptedSupervisor]:
    """A job that is ended in all cases."""
    supervisor = ScriptedSupervisor(command, folder, ranks, spares, dict(variables))
    try:
        yield supervisor
    finally:
        supervisor.end()
