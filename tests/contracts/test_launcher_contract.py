"""What every launcher adapter promises: the in-memory fake by default, the real ones connected."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from paramedic.ingest.contract import JobName, NodeName
from paramedic.remediation.launchers.in_memory import InMemoryLauncher
from paramedic.remediation.launchers.local.client import LocalLauncher
from paramedic.remediation.launchers.port import (
    Effect,
    Launcher,
    LauncherUnavailableError,
    Placement,
    ReplaceRank,
)

JOB = JobName("demo")
RANKS = 3
PATIENCE_SECONDS = 30.0
PROGRAMS = Path(__file__).parents[1] / "remediation" / "launchers" / "programs"


@dataclass
class Launched:
    """A launcher with a job of three ranks and one spare, and a way to take it away."""

    launcher: Launcher
    vanish: Callable[[], None]

    def carriers(self) -> dict[int, Placement]:
        placements = self.launcher.observe(JOB)
        return {p.rank: p for p in placements if p.rank is not None}

    def wait_for_generation(self, generation: int) -> dict[int, Placement]:
        """The carriers once each of them is in that generation."""
        return self._wait(
            lambda: (
                {p.generation for p in self.carriers().values()} == {generation}
                and len(self.carriers()) == RANKS
            )
        )

    def wait_for_spare(self) -> Placement:
        self._wait(lambda: any(p.rank is None for p in self.launcher.observe(JOB)))
        return next(p for p in self.launcher.observe(JOB) if p.rank is None)

    def _wait(self, holds: Callable[[], bool]) -> dict[int, Placement]:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not holds():
            if time.monotonic() > deadline:
                raise TimeoutError(f"did not come: {self.launcher.observe(JOB)}")
            time.sleep(0.01)
        return self.carriers()


def launch_in_memory(_folder: Path) -> Iterator[Launched]:
    launcher = InMemoryLauncher(JOB, ranks=RANKS, spares=1)

    def vanish() -> None:
        launcher.is_reachable = False

    yield Launched(launcher, vanish)


def launch_local(folder: Path) -> Iterator[Launched]:
    asked = {
        "folder": str(folder),
        "command": [sys.executable, str(PROGRAMS / "worker.py")],
        "rules": {"ranks": RANKS, "spares": 1},
        "services": {},
    }
    with (folder / "supervisor.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, str(PROGRAMS / "supervise.py"), json.dumps(asked)],
            stdout=log,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env=dict(os.environ),
        )

    def vanish() -> None:
        process.kill()
        process.wait()

    try:
        wait_for_training(folder)
        yield Launched(LocalLauncher(folder / "control.sock"), vanish)
    finally:
        vanish()


def wait_for_training(folder: Path) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    events = folder / "events.jsonl"
    while not (events.exists() and '"training"' in events.read_text()):
        if time.monotonic() > deadline:
            raise TimeoutError((folder / "supervisor.log").read_text())
        time.sleep(0.01)


@pytest.fixture(
    params=[
        pytest.param(launch_in_memory, id="in_memory"),
        pytest.param(launch_local, id="local", marks=pytest.mark.connected),
    ]
)
def launched(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Launched]:
    yield from request.param(tmp_path)


def ask(node: NodeName, generation: int = 0, key: str = "verdict-1") -> ReplaceRank:
    return ReplaceRank(JOB, node, generation, key, "hang")


def test_every_rank_is_observed_on_one_node(launched: Launched) -> None:
    carriers = launched.wait_for_generation(0)
    assert sorted(carriers) == list(range(RANKS))
    assert len({placement.node for placement in carriers.values()}) == RANKS
    assert len({placement.process_id for placement in carriers.values()}) == RANKS


def test_another_job_has_no_placements(launched: Launched) -> None:
    assert launched.launcher.observe(JobName("another")) == ()


def test_a_plan_touches_nothing(launched: Launched) -> None:
    carriers = launched.carriers()
    calls = launched.launcher.plan(ask(carriers[1].node)).calls
    assert calls
    assert all(carriers[1].node in call for call in calls)
    assert launched.carriers() == carriers


def test_a_replaced_rank_moves_to_the_spare_and_the_others_stay(launched: Launched) -> None:
    spare = launched.wait_for_spare()
    before = launched.wait_for_generation(0)
    assert launched.launcher.apply(ask(before[1].node)).effect is Effect.APPLIED
    after = launched.wait_for_generation(1)
    assert after[1].node == spare.node
    assert {r: after[r].process_id for r in (0, 2)} == {r: before[r].process_id for r in (0, 2)}


def test_a_key_is_applied_once(launched: Launched) -> None:
    before = launched.carriers()
    launched.launcher.apply(ask(before[1].node))
    again = launched.launcher.apply(ask(before[1].node))
    other = launched.launcher.apply(ask(before[2].node))
    assert (again.effect, other.effect) == (Effect.ALREADY_DONE, Effect.ALREADY_DONE)
    assert launched.wait_for_generation(1)[2].node == before[2].node


def test_a_node_that_lost_its_rank_is_already_done(launched: Launched) -> None:
    node = launched.carriers()[1].node
    launched.launcher.apply(ask(node))
    launched.wait_for_generation(1)
    late = launched.launcher.apply(ask(node, key="verdict-2"))
    assert late.effect is Effect.ALREADY_DONE
    assert node in late.reason


def test_a_verdict_older_than_a_nodes_rank_does_not_touch_it(launched: Launched) -> None:
    launched.launcher.apply(ask(launched.carriers()[1].node))
    newcomer = launched.wait_for_generation(1)[1].node
    old = launched.launcher.apply(ask(newcomer, generation=0, key="verdict-2"))
    assert old.effect is Effect.ALREADY_DONE
    new = launched.launcher.apply(ask(newcomer, generation=1, key="verdict-3"))
    assert new.effect is Effect.APPLIED


def test_a_spare_an_unknown_node_and_another_job_are_refused(launched: Launched) -> None:
    spare = launched.wait_for_spare()
    stranger = ReplaceRank(JobName("another"), launched.carriers()[0].node, 0, "k", "hang")
    requests = [ask(spare.node), ask(NodeName("node-9999")), stranger]
    answers = [launched.launcher.apply(request) for request in requests]
    assert [answer.effect for answer in answers] == [Effect.REFUSED] * 3
    assert all(answer.reason for answer in answers)


def test_a_refused_key_may_be_used_again(launched: Launched) -> None:
    launched.launcher.apply(ask(NodeName("node-9999")))
    assert launched.launcher.apply(ask(launched.carriers()[1].node)).effect is Effect.APPLIED


def test_a_launcher_that_is_gone_is_unavailable(launched: Launched) -> None:
    node = launched.carriers()[1].node
    launched.vanish()
    with pytest.raises(LauncherUnavailableError, match="try again"):
        launched.launcher.apply(ask(node))
    with pytest.raises(LauncherUnavailableError, match="try again"):
        launched.launcher.observe(JOB)
    assert launched.launcher.plan(ask(node)).calls
