"""Real processes around a real broker: members that are killed, a publisher, and a sink."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from diagnosis.synthetic import JOB, START
from paramedic.diagnosis.contract import Status, Verdict
from paramedic.diagnosis.routing.ledger import SlotKey, SlotLedger
from paramedic.ingest.batch.decode import decode
from paramedic.ingest.bus.kafka import KafkaBus
from paramedic.ingest.bus.kafka_settings import KafkaSettings
from paramedic.ingest.contract import ContractError, Message, Start, Subscription, Topic

PROGRAMS = Path(__file__).parent / "programs"
_END_SECONDS = 60.0
_EVENT_SECONDS_KEPT = 3600


@dataclass
class Process:
    """A process of ours, with its output in a file."""

    process: subprocess.Popen[bytes]
    log_file: Path

    @property
    def log(self) -> str:
        return self.log_file.read_text()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def end(self) -> str:
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(_END_SECONDS * 2) == 0, self.log
        return self.log


@dataclass
class Sink:
    """Takes slots and verdicts in, each once."""

    subscription: Subscription
    ledger: SlotLedger = field(default_factory=lambda: SlotLedger(_EVENT_SECONDS_KEPT))
    slots: set[SlotKey] = field(default_factory=set)
    rows: Counter[SlotKey] = field(default_factory=Counter)
    verdicts: list[Verdict] = field(default_factory=list)
    skips_unreadable: bool = False

    def read(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while True:
            for message in self.subscription.poll(min(0.5, seconds)):
                self._take(message)
            if time.monotonic() >= deadline:
                return

    def read_until(self, enough: Callable[[], bool], patience_seconds: float) -> None:
        deadline = time.monotonic() + patience_seconds
        while not enough() and time.monotonic() < deadline:
            self.read(0.5)

    def told(self) -> list[tuple[str, str, Status]]:
        """Job, node and status of each verdict as one who rejects repeats of a status sees them."""
        seen = dict.fromkeys((v.job, v.node or "", v.id, v.status) for v in self.verdicts)
        return sorted((job, node, status) for job, node, _, status in seen)

    def _take(self, message: Message) -> None:
        if message.topic is Topic.VERDICTS:
            self.verdicts.append(Verdict.from_json(message.payload))
            return
        try:
            slot = decode(message.payload)
        except ContractError:
            if self.skips_unreadable:
                return
            raise
        key = SlotKey.of(slot)
        if self.ledger.accept(key):
            self.slots.add(key)
            self.rows[key] = sum(len(table.nodes) for table in slot.tables)


def every_slot(seconds: int) -> set[SlotKey]:
    return {SlotKey(JOB, shard, START + n, 0) for n in range(seconds) for shard in (0, 1)}


class Storm:
    """A prefix of its own at a broker, and everything that runs there."""

    def __init__(self, server: str, folder: Path, stack: ExitStack) -> None:
        self.server = server
        self.prefix = f"storm-{uuid.uuid4().hex[:10]}"
        self._folder = folder
        self._stack = stack
        self._started = 0

    def member(self, reconnect_seconds: float = 30.0) -> Process:
        return self.start("member", str(reconnect_seconds))

    def publisher(self, seconds: int = 3_000, pause_seconds: float = 0.1) -> Process:
        return self.start("publish", str(pause_seconds), str(seconds))

    def sink(self) -> Sink:
        bus = KafkaBus(KafkaSettings((self.server,), self.prefix, partitions=4))
        subscription = bus.subscribe([Topic.SLOTS, Topic.VERDICTS], Start.EARLIEST)
        self._stack.callback(subscription.close)
        return Sink(subscription)

    def start(self, program: str, *arguments: str) -> Process:
        self._started += 1
        log_file = self._folder / f"{program}-{self._started}.log"
        command = [sys.executable, str(PROGRAMS / f"{program}.py"), self.server, self.prefix]
        with log_file.open("wb") as output:
            process = subprocess.Popen(
                [*command, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        found = Process(process, log_file)
        self._stack.callback(found.kill)
        return found


@contextmanager
def storm(server: str, folder: Path) -> Iterator[Storm]:
    """Everything that is started is ended in all cases."""
    with ExitStack() as stack:
        yield Storm(server, folder, stack)
