"""A crash or a failure at every single point neither repeats nor forgets what was decided."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paramedic.diagnosis.contract import Status, Verdict
from paramedic.ingest.bus.memory import MemoryBus
from paramedic.ingest.contract import JobName, Start, Topic
from paramedic.remediation.configuration import RemediateConfig
from paramedic.remediation.contract import Action, ActionState, IncidentState, StoreUnavailableError
from paramedic.remediation.launchers.in_memory import InMemoryLauncher
from paramedic.remediation.launchers.port import (
    LauncherUnavailableError,
    Outcome,
    Placement,
    Plan,
    ReplaceRank,
)
from paramedic.remediation.service import Service
from paramedic.remediation.store.database import open_database
from paramedic.remediation.store.store import Store, Transaction

pytestmark = pytest.mark.long


LLAMA = JobName("llama")
POINTS_OF_ONE_STORY = 23
"""So many, and the action has succeeded; a test below holds it."""


class CrashError(Exception):
    """The process ends here."""


@dataclass
class Fuse:
    """Counts the points that are passed, and breaks at some of them."""

    breaks_at: frozenset[int] = frozenset()
    crashes: bool = True
    """Else what stands at the point is unavailable there."""
    passed: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    def pass_point(self, name: str, otherwise: Exception) -> None:
        self.passed.append(name)
        if len(self.passed) - 1 in self.breaks_at:
            self.broken.append(name)
            raise CrashError(name) if self.crashes else otherwise


class FragileStore(Store):
    """Breaks before a transaction, within it at its end, and after it was committed."""

    def __init__(self, url: str, fuse: Fuse) -> None:
        super().__init__(open_database(url))
        self._fuse = fuse

    def _point(self, name: str) -> None:
        self._fuse.pass_point(name, StoreUnavailableError(name))

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        self._point("before a transaction")
        with super().writing() as tx:
            yield tx
            self._point("before the commit")
        self._point("after the commit")

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        self._point("before a view")
        with super().reading() as view:
            yield view


@dataclass
class FragileLauncher:
    """Breaks before each call, and after it when its answer is lost."""

    inner: InMemoryLauncher
    fuse: Fuse

    def __post_init__(self) -> None:
        self.name = self.inner.name
        self.capabilities = self.inner.capabilities

    def _point(self, name: str) -> None:
        self.fuse.pass_point(name, LauncherUnavailableError(name))

    def plan(self, request: ReplaceRank) -> Plan:
        self._point("before plan")
        return self.inner.plan(request)

    def apply(self, request: ReplaceRank) -> Outcome:
        self._point("before apply")
        outcome = self.inner.apply(request)
        self._point("after apply")
        return outcome

    def observe(self, job: JobName) -> tuple[Placement, ...]:
        self._point("before observe")
        return self.inner.observe(job)


class Story:
    """A hang that is diagnosed, acted on and resolved, with a service that starts after crashes."""

    def __init__(self, url: str, clock: Any, fuse: Fuse) -> None:
        self.fuse = fuse
        self.clock = clock
        self.bus = MemoryBus()
        self.store = FragileStore(url, fuse)
        self.launcher = FragileLauncher(InMemoryLauncher(LLAMA, ranks=4, spares=2), fuse)
        self.service = self._start()

    def tell(self, verdict: Verdict) -> None:
        self.bus.publisher().publish(Topic.VERDICTS, "llama/0", verdict.to_json())

    def turn(self, times: int) -> None:
        for _ in range(times):
            try:
                self.service.turn()
            except CrashError:
                self.service = self._start()
            self.clock.go_on(5)

    def end(self) -> tuple[tuple[Action, ...], IncidentState | None]:
        self.fuse.breaks_at = frozenset()
        with self.store.reading() as view:
            incident = view.incidents.get("inc-V1")
            actions = view.actions.of_job(LLAMA)
        self.store.close()
        return actions, None if incident is None else incident.state

    def _start(self) -> Service:
        return Service(
            RemediateConfig(poll_seconds=0.0001),
            self.bus.subscribe((Topic.VERDICTS, Topic.EVENTS), Start.EARLIEST),
            self.bus.publisher(),
            self.launcher,
            self.store,
            self.clock,
        )


def live_through(url: str, clock: Any, fuse: Fuse, verdict_of: Callable[..., Verdict]) -> Story:
    story = Story(url, clock, fuse)
    story.tell(verdict_of())
    story.turn(4)
    return story


@pytest.mark.parametrize("crashes", [True, False], ids=["crash", "unavailable"])
@pytest.mark.parametrize("point", range(POINTS_OF_ONE_STORY))
def test_a_break_at_any_point_neither_repeats_nor_forgets_the_action(
    store_url: str, clock: Any, verdict_of: Callable[..., Verdict], point: int, crashes: bool
) -> None:
    fuse = Fuse(frozenset({point}), crashes)
    story = live_through(store_url, clock, fuse, verdict_of)
    (action,), incident = story.end()
    assert [request.idempotency_key for request in story.launcher.inner.applied] == [
        "V1:replace_rank"
    ]
    assert (action.state, incident) == (ActionState.SUCCEEDED, IncidentState.ACTING)
    assert action.calls == ("replace node-0001 of llama: node-0001 is silent",)
    assert len(fuse.broken) == 1


def test_an_undisturbed_story_passes_all_kinds_of_points_and_is_over_by_the_last_one(
    store_url: str, clock: Any, verdict_of: Callable[..., Verdict]
) -> None:
    story = live_through(store_url, clock, Fuse(), verdict_of)
    story.end()
    passed = story.fuse.passed[:POINTS_OF_ONE_STORY]
    assert set(passed) == set(story.fuse.passed)
    assert passed.count("after apply") == passed.count("before observe") == 1


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.frozensets(st.integers(0, 60), max_size=8), st.booleans(), st.integers(0, 4))
def test_many_breaks_in_one_story_still_end_with_at_most_one_call(
    tmp_path_factory: pytest.TempPathFactory,
    database_in: Callable[[Path], str],
    clock: Any,
    verdict_of: Callable[..., Verdict],
    points: frozenset[int],
    crashes: bool,
    turns_before_it_is_over: int,
) -> None:
    story = Story(database_in(tmp_path_factory.mktemp("story")), clock, Fuse(points, crashes))
    story.tell(verdict_of())
    story.turn(turns_before_it_is_over)
    story.tell(verdict_of(status=Status.RESOLVED))
    story.turn(14)
    actions, incident = story.end()
    assert incident is IncidentState.RECOVERED
    assert len(story.launcher.inner.applied) <= 1
    assert len(actions) <= 1
    assert all(action.state not in (ActionState.PLANNED, ActionState.ACTING) for action in actions)
    if story.launcher.inner.applied:
        assert [action.idempotency_key for action in actions] == ["V1:replace_rank"]
