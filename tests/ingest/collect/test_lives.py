"""Jobs are announced when their cadence is known, and their cadence is looked at again."""

from __future__ import annotations

from ingest.collect.imagined import START, Host, page_of
from paramedic.ingest.collect.configuration import LabelSettings, TenancySettings
from paramedic.ingest.collect.lives import Lives
from paramedic.ingest.collect.repeats import Repeats
from paramedic.ingest.collect.tenancy import Tenancy
from paramedic.ingest.collect.usage import gpus_in_use
from paramedic.ingest.contract import Event, EventKind, JobName

J = {"hpc_job": "j", "rack": "r7", "stage": "2"}
SETTINGS = TenancySettings()


class Story:
    """Pages of hosts, and the events that came of them."""

    def __init__(self) -> None:
        labels = LabelSettings(role_labels={"rack": "rack", "pipeline_stage": "stage"})
        self.tenancy = Tenancy(labels, SETTINGS)
        self.repeats = Repeats(90)
        self.lives = Lives(self.tenancy, self.repeats)
        self.events: list[tuple[int, Event]] = []

    def see(self, second: int, *hosts: Host) -> None:
        page = page_of(hosts, START + second, "p")
        (table,) = page.tables
        self.tenancy.observe(page.second, table, page.labels, gpus_in_use(table, SETTINGS))
        self.repeats.repeated(page.origin, page.second, table)
        events = [
            *self.lives.follow(self.tenancy.take_moves(), page.second),
            *self.lives.pass_time(page.second),
        ]
        self.events += [(second, event) for event in events]

    @property
    def grids(self) -> list[tuple[int, object]]:
        return [
            (at, event.details["sampling_seconds"])
            for at, event in self.events
            if "sampling_seconds" in event.details
        ]


def test_a_job_is_not_announced_before_half_of_its_nodes_are_measured() -> None:
    story = Story()
    quick, slow = Host("a", labels=J), [Host(name, labels=J) for name in "bc"]
    for second in range(70):
        story.see(second, quick, *(slow if second % 10 == 0 else ()))
    assert story.grids[0] == (30, 10)


def test_members_are_told_with_their_roles_and_gpus() -> None:
    story = Story()
    for second in range(5):
        story.see(second, Host("a", gpus=4, labels=J))
    joined = next(e for _, e in story.events if e.kind is EventKind.MEMBERSHIP)
    assert joined.node == "a"
    assert joined.details == {"change": "joined", "gpus": 4, "rack": "r7", "pipeline_stage": 2}


def test_a_job_that_ends_before_it_was_announced_is_never_spoken_of() -> None:
    story = Story()
    story.see(0, Host("a", labels=J))
    story.see(1, Host("a", labels={"hpc_job": "k"}))
    for second in range(2, 8):
        story.see(second, Host("a", labels={"hpc_job": "k"}))
    assert {event.job for _, event in story.events} == {"k"}


def test_a_cadence_that_changes_for_a_moment_is_not_told() -> None:
    story = Story()
    for second in range(300):
        if not 118 <= second < 122 and (not 50 <= second < 62 or second % 4 == 0):
            story.see(second, Host("a", labels=J))
    assert {grid for _, grid in story.grids} == {1}


def test_a_cadence_that_two_reviews_find_is_told_once() -> None:
    story = Story()
    for second in range(120):
        story.see(second, Host("a", labels=J))
    for second in range(120, 600, 15):
        story.see(second, Host("a", labels=J))
    (at, grid) = story.grids[-1]
    assert grid == 15
    assert 240 <= at <= 360
    assert [grid for _, grid in story.grids].count(15) == 1
    assert story.lives.sampling_seconds(JobName("j")) == 15


def test_events_carry_the_generation_of_a_job_that_nobody_counts() -> None:
    story = Story()
    for second in range(8):
        story.see(second, Host("a", labels=J))
    assert {event.generation for _, event in story.events} == {0}
