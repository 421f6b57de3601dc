"""What is told again makes a newcomer know what everybody knows, and teaches nobody else."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from paramedic.ingest.collect.chronicle import Chronicle
from paramedic.ingest.contract import Event, EventKind, JobName, NodeName

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
BEFORE = NOON - timedelta(days=1)


def state(job: str, name: str, second: int, grid: int = 1) -> Event:
    details: dict[str, str | int] = {"state": name, "sampling_seconds": grid}
    return _event(EventKind.JOB_STATE, job, second, details)


def move(job: str, node: str, change: str, second: int) -> Event:
    return _event(EventKind.MEMBERSHIP, job, second, {"change": change}, NodeName(node))


def _event(
    kind: EventKind,
    job: str,
    second: int,
    details: dict[str, str | int],
    node: NodeName | None = None,
) -> Event:
    at = NOON + timedelta(seconds=second)
    return Event(at, kind, JobName(job), node, generation=0, details=details)


@dataclass
class Reader:
    """Knows of each job what the newest word on it says, in whatever order it comes."""

    words: dict[tuple[str, str], tuple[datetime, str]] = field(default_factory=dict)
    ends: dict[str, datetime] = field(default_factory=dict)

    def hear(self, event: Event) -> None:
        what = str(event.details.get("state", event.details.get("change")))
        key = (event.job, str(event.node or "state"))
        if what == "finished":
            self.ends[event.job] = max(self.ends.get(event.job, BEFORE), event.timestamp)
        self.words[key] = max(self.words.get(key, (BEFORE, "")), (event.timestamp, what))

    @property
    def present(self) -> dict[tuple[str, str], str]:
        """Members and states of the jobs that go on, of their present run."""
        return {
            key: what
            for key, (at, what) in self.words.items()
            if at > self.ends.get(key[0], BEFORE) and what != "left"
        }


CHANGES = st.sampled_from(["starting", "training", "finished", "joined a", "left a", "joined b"])
STORIES = st.lists(st.tuples(st.sampled_from("jk"), CHANGES), max_size=30)


def told(story: list[tuple[str, str]]) -> list[Event]:
    """Events as collect tells them: a job that has ended is not spoken of before it starts anew."""
    events, running = [], set()
    for second, (job, change) in enumerate(story):
        verb, _, node = change.partition(" ")
        if verb == "starting":
            running.add(job)
        if job not in running:
            continue
        if verb == "finished":
            running.discard(job)
        events.append(move(job, node, verb, second) if node else state(job, verb, second))
    return events


@given(STORIES, st.integers(0, 30))
def test_whoever_missed_any_part_knows_who_is_in_what_afterwards(
    story: list[tuple[str, str]], heard: int
) -> None:
    events, chronicle = told(story), Chronicle()
    chronicle.hear(events)
    everything, some = Reader(), Reader()
    for event in events:
        everything.hear(event)
    for event in (*events[:heard], *chronicle.events()):
        some.hear(event)
    assert some.present == everything.present
    assert all(event in events for event in chronicle.events())


def test_a_job_that_has_ended_is_told_as_ended_and_nothing_else_of_it() -> None:
    chronicle = Chronicle()
    end = state("j", "finished", 9)
    chronicle.hear([state("j", "starting", 0), move("j", "a", "joined", 0), end])
    assert list(chronicle.events()) == [end]
    assert chronicle.jobs == 0


def test_every_word_on_a_job_has_its_newest_cadence() -> None:
    chronicle = Chronicle()
    chronicle.hear([state("j", "starting", 0), state("j", "training", 5, grid=15)])
    assert [one.details["sampling_seconds"] for one in chronicle.events()] == [15, 15]


def test_what_happens_to_a_machine_is_not_told_twice() -> None:
    chronicle = Chronicle()
    chronicle.hear([_event(EventKind.XID, "j", 3, {"code": 79}, NodeName("a"))])
    assert not chronicle.events()


def test_departures_are_forgotten_in_the_end() -> None:
    chronicle = Chronicle()
    chronicle.hear([state("j", "starting", 0)])
    chronicle.hear([move("j", f"n{number}", "left", number) for number in range(1500)])
    kept = chronicle.events()
    assert len(kept) == 1001
    assert kept[-1].node == "n1499"
