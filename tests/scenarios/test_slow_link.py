"""A real training with one rank behind a link: a slow link is no death, an unplugged one is."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from paramedic.diagnosis.contract import Fault, Phase, Status, Verdict
from paramedic.ingest.batch.decode import decode
from paramedic.ingest.bus.development_broker import development_broker
from paramedic.ingest.bus.kafka import KafkaBus
from paramedic.ingest.bus.kafka_settings import KafkaSettings
from paramedic.ingest.contract import Entity, Start, Subscription, Topic
from scenarios.case import Case, wait_until
from servers.link import Link, link, why_there_is_none

pytestmark = [pytest.mark.connected, pytest.mark.timeout(400)]

_LOG = logging.getLogger(__name__)
PROGRAM = Path(__file__).parent / "programs" / "distant_node.py"
RANKS = 4
FAR = RANKS - 1
"""The rank behind the link."""


@dataclass
class Watcher:
    """What is on the bus: verdicts, and how far each rank has come."""

    subscription: Subscription
    verdicts: list[Verdict] = field(default_factory=list)
    steps: dict[int, float] = field(default_factory=dict)

    def look(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for message in self.subscription.poll(0.2):
                if message.topic is Topic.VERDICTS:
                    self.verdicts.append(Verdict.from_json(message.payload))
                else:
                    self._take(message.payload)

    def trains(self) -> bool:
        self.look(0.5)
        return len(self.steps) == RANKS and min(self.steps.values()) >= 10

    def firing(self) -> list[Verdict]:
        return [one for one in self.verdicts if one.status is Status.FIRING]

    def _take(self, payload: bytes) -> None:
        batch = decode(payload)
        for table in batch.tables:
            if table.entity is Entity.RANK:
                rows = zip(table.indices or (), table.columns.get("step", ()), strict=False)
                for rank, step in rows:
                    self.steps[rank] = max(self.steps.get(rank, 0.0), step)


@contextmanager
def a_job_over(wire: Link, case: Case) -> Iterator[Watcher]:
    """Four ranks that train, one of them at the far end, and a diagnosis at this one."""
    with ExitStack() as stack:
        broker = stack.enter_context(development_broker(case.folder / "b.log", host=wire.here))
        store = f"tcp://{wire.here}:{broker.port + 1}"
        for rank in range(RANKS):
            is_far = rank == FAR
            settings = {
                "rank": rank, "ranks": RANKS, "store": store, "job": "linked",
                "device": wire.far_device if is_far else wire.near_device,
                "server": f"{broker.host}:{broker.port}", "folder": str(case.temporary),
            }  # fmt: skip
            start(case, rank, wire.command if is_far else [], settings)
        case.start("diagnose", "--bus", broker.address, "--set", "kafka.group=off")
        bus = KafkaBus(KafkaSettings((f"{broker.host}:{broker.port}",)))
        subscription = bus.subscribe([Topic.TELEMETRY, Topic.VERDICTS], Start.EARLIEST)
        stack.callback(subscription.close)
        watcher = Watcher(subscription)
        wait_until(watcher.trains, "all ranks had made steps", 120.0)
        yield watcher


def start(case: Case, rank: int, prefix: list[str], settings: dict[str, object]) -> None:
    with (case.folder / f"rank-{rank}.log").open("wb") as log:
        process = subprocess.Popen(
            [*prefix, sys.executable, str(PROGRAM), json.dumps(settings)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=case.environment(),
            text=True,
        )
    case.started.append(process)


def test_a_throttled_link_is_no_death_and_an_unplugged_one_is_named(case: Case) -> None:
    reason = why_there_is_none()
    if reason:
        pytest.skip(f"no link can be made: {reason}")
    with link() as wire, a_job_over(wire, case) as watcher:
        watcher.look(10.0)
        before = watcher.steps[0]
        wire.throttle(100)
        watcher.look(60.0)
        assert watcher.steps[0] > before + 10, "the training went on"
        assert [one for one in watcher.firing() if one.phase is Phase.FAILED] == []
        _LOG.info("throttled: %.0f steps, verdicts %s", watcher.steps[0] - before, watcher.firing())
        wire.free()
        watcher.look(10.0)
        unplugged = time.time()
        wire.unplug()
        wait_until(lambda: is_named(watcher), "the node was named", 20.0)
        took = time.time() - unplugged
        _LOG.info("named %.1f s after it was unplugged", took)
        assert took <= 12.0
        (verdict,) = [one for one in watcher.firing() if one.phase is Phase.FAILED]
        assert (verdict.node, verdict.fault) == (f"node-{FAR}", Fault.MACHINE_UNREACHABLE)


def is_named(watcher: Watcher) -> bool:
    watcher.look(0.2)
    return any(one.phase is Phase.FAILED for one in watcher.firing())
