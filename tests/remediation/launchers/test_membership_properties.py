"""What holds whatever the order of exits, messages and failures."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from paramedic.ingest.contract import EventKind
from paramedic.remediation.launchers.local.commands import MembershipRules, Note, StartWorker
from paramedic.remediation.launchers.local.job_record import Stage
from paramedic.remediation.launchers.local.messages import (
    Abort,
    Assign,
    Committed,
    Failed,
    Finished,
    Raised,
    Store,
)
from paramedic.remediation.launchers.port import Effect
from remediation.launchers.rehearsal import ImaginedWorker, Rehearsal

if TYPE_CHECKING:
    from paramedic.ingest.contract import NodeName

pytestmark = pytest.mark.long


RANKS = 3
PICK = st.integers(min_value=0, max_value=9)
GENERATION = st.integers(min_value=0, max_value=6)


class AnyOrder(RuleBasedStateMachine):
    """Workers that do anything at any time. The rehearsal refuses commands for dead workers.

    (It looks the node up among the living and raises KeyError.)
    """

    @initialize(spares=st.integers(0, 2), retries=st.integers(0, 3), trains=st.booleans())
    def start(self, spares: int, retries: int, trains: bool) -> None:
        rules = MembershipRules(ranks=RANKS, spares=spares, max_recoveries_without_progress=retries)
        self.job = Rehearsal(rules)
        self.generations = [0]
        self.killed: set[NodeName] = set()
        if trains:
            self.job.cooperate()

    def pick(self, number: int) -> ImaginedWorker:
        living = list(self.job.alive.values())
        return living[number % len(living)]

    def has_restarted(self) -> bool:
        return self.job.states().count("starting") > 1

    def anybody_lives(self) -> bool:
        return bool(self.job.alive)

    @precondition(anybody_lives)
    @rule(who=PICK, code=st.sampled_from([0, 0, 1, 3, -9, -15]), blames=st.booleans())
    def exits(self, who: int, code: int, blames: bool) -> None:
        node = self.pick(who).node
        if code < 0:
            self.job.exit(node, by=signal.Signals(-code))
        else:
            self.job.exit(node, code=code, blames_a_peer=blames and code > 0)

    @precondition(anybody_lives)
    @rule(who=PICK)
    def says_hello_or_ready(self, who: int) -> None:
        worker = self.pick(who)
        if worker.has_greeted:
            self.job.make_ready(worker.node)
        else:
            self.job.greet(worker.node)

    @precondition(anybody_lives)
    @rule(who=PICK, generation=GENERATION)
    def opens_a_store(self, who: int, generation: int) -> None:
        self.job.say(self.pick(who).node, Store(generation, port=1))

    @precondition(anybody_lives)
    @rule(who=PICK, generation=GENERATION, step=st.none() | st.integers(0, 50))
    def fails(self, who: int, generation: int, step: int | None) -> None:
        self.job.say(self.pick(who).node, Failed(generation, "broken", step))

    @precondition(anybody_lives)
    @rule(who=PICK, generation=GENERATION, step=st.integers(0, 50))
    def commits(self, who: int, generation: int, step: int) -> None:
        self.job.say(self.pick(who).node, Committed(generation, step))

    @precondition(anybody_lives)
    @rule(who=PICK)
    def finishes(self, who: int) -> None:
        self.job.say(self.pick(who).node, Finished(50))

    @precondition(anybody_lives)
    @rule(who=PICK)
    def loses_its_connection(self, who: int) -> None:
        self.job.membership.disconnected(self.pick(who).node, self.job.now)

    @precondition(anybody_lives)
    @rule(who=PICK)
    def raises(self, who: int) -> None:
        self.job.say(self.pick(who).node, Raised("ValueError"))

    @precondition(anybody_lives)
    @rule(who=PICK, generation=GENERATION, key=st.sampled_from("abcd"))
    def is_to_be_replaced(self, who: int, generation: int, key: str) -> None:
        node = self.pick(who).node
        if self.job.replace(node, generation, key).effect is Effect.APPLIED:
            assert node not in self.killed
            self.killed.add(node)

    @precondition(anybody_lives)
    @rule(who=PICK)
    def freezes(self, who: int) -> None:
        self.pick(who).is_frozen = True

    @rule(seconds=st.sampled_from([0.1, 0.5, 2.0, 5.0, 31.0, 299.9, 300.0]))
    def time_passes(self, seconds: float) -> None:
        self.job.wait(seconds)

    @rule()
    def everybody_cooperates(self) -> None:
        self.job.cooperate()

    @rule(really=st.integers(0, 9))
    def is_stopped(self, really: int) -> None:
        if really == 0:
            self.job.stop()

    @invariant()
    def generations_only_grow(self) -> None:
        self.generations.append(self.job.membership.generation)
        assert self.generations == sorted(self.generations)
        for worker in self.job.alive.values():
            taken = [m.generation for m in worker.received if isinstance(m, Assign)]
            assert taken == sorted(set(taken))

    @invariant()
    def every_rank_has_exactly_one_live_worker(self) -> None:
        carried = [p.rank for p in self.job.membership.placements() if p.rank is not None]
        assert len(carried) == len(set(carried))
        if self.job.membership.stage in (Stage.RUNNING, Stage.RECOVERING):
            finished = self.job.membership.finished_ranks
            assert set(carried) | finished == set(range(RANKS))

    @invariant()
    def a_rank_never_changes_hands_while_its_worker_lives(self) -> None:
        for worker in self.job.alive.values():
            ranks = {m.rank for m in worker.received if isinstance(m, Assign)}
            assert len(ranks) <= 1

    @invariant()
    def nobody_is_told_to_abort_what_it_never_joined(self) -> None:
        for worker in self.job.alive.values():
            joined: list[int] = []
            for message in worker.received:
                if isinstance(message, Assign):
                    joined.append(message.generation)
                if isinstance(message, Abort):
                    assert message.generation == joined[-1]

    @invariant()
    def everybody_knows_once_that_a_generation_is_over(self) -> None:
        for worker in self.job.alive.values():
            aborted = [m.generation for m in worker.received if isinstance(m, Abort)]
            assert len(aborted) == len(set(aborted))
            joined = worker.assignment
            is_recovering = self.job.membership.stage is Stage.RECOVERING
            if is_recovering and joined is not None and not worker.signals:
                assert joined.generation in aborted

    @invariant()
    def nothing_that_was_due_is_left_undone(self) -> None:
        deadline = self.job.membership.next_deadline()
        if deadline is not None and deadline <= self.job.now:
            self.job.wait(0.0)
            later = self.job.membership.next_deadline()
            assert later is None or later > self.job.now

    @invariant()
    def nobody_is_ended_for_being_late_who_was_there_from_the_start(self) -> None:
        ended = [c.text for c in self.job.commands if isinstance(c, Note) and " within " in c.text]
        first = {f"node-{rank:04d}" for rank in range(RANKS)}
        if not self.has_restarted():
            assert not [text for text in ended if text.split()[0] in first and "ready" in text]

    @invariant()
    def the_living_are_those_that_the_membership_knows(self) -> None:
        known = {placement.node for placement in self.job.membership.placements()}
        assert known == set(self.job.alive)
        assert self.job.over is None or not known

    def teardown(self) -> None:
        """Whatever happened, the job comes to an end when it is asked to."""
        if not hasattr(self, "job"):
            return
        self.job.stop()
        self.job.wait(5)
        self.job.cooperate()
        assert self.job.over is not None
        assert self.job.alive == {}
        exits = [event.node for event in self.job.events(EventKind.PROCESS_EXIT)]
        assert len(exits) == len(set(exits))
        assert set(exits) == {c.node for c in self.job.commands if isinstance(c, StartWorker)}


class Recovers(AnyOrder):
    """The same, and whenever all cooperate from then on, the job trains or is over."""

    def teardown(self) -> None:
        if hasattr(self, "job"):
            self.help()
            stage, states = self.job.membership.stage, self.job.states()
            trains = stage is Stage.RUNNING and states[-1] == "training"
            assert trains or self.job.over is not None or self.waits_for_finished()
        super().teardown()

    def help(self) -> None:
        """Everybody cooperates but the frozen, and diagnosis tells of those that have trained."""
        for key in range(8):
            self.job.wait(300)
            self.job.cooperate()
            for worker in [w for w in self.job.alive.values() if w.is_frozen]:
                if worker.assignment is not None or worker.started.rank is not None:
                    generation = self.job.membership.generation
                    self.job.replace(worker.node, generation, f"help-{key}-{worker.node}")
            self.job.cooperate()

    def waits_for_finished(self) -> bool:
        return bool(self.job.membership.finished_ranks)


AnyOrderTest = AnyOrder.TestCase
AnyOrderTest.settings = settings(max_examples=30, stateful_step_count=40, deadline=None)
RecoversTest = Recovers.TestCase
RecoversTest.settings = settings(max_examples=30, stateful_step_count=30, deadline=None)
