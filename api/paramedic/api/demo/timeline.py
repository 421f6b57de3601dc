"""One line for each thing that is seen, decided and done, with seconds since the injection."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from paramedic.api.demo.observations import Observed, is_training_again
from paramedic.diagnosis.contract import Verdict
from paramedic.ingest.contract import Event, EventKind, JobState


class Topic(StrEnum):
    """What a line of the timeline speaks of; terminals show each in a colour of its own."""

    DEMO = "demo"
    INJECTION = "injection"
    EVENT = "event"
    VERDICT = "verdict"
    ACTION = "action"
    RECOVERY = "recovery"


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the timeline before it has a time."""

    topic: Topic
    text: str


def describe(observed: Observed) -> Entry | None:
    """What a message means to somebody who watches; None for what only fills the screen."""
    if isinstance(observed.said, Verdict):
        return _describe_verdict(observed.said)
    if isinstance(observed.said, Event):
        return _describe_event(observed.said)
    return None


def format_line(entry: Entry, seconds: float | None) -> str:
    """A plain line.

    >>> format_line(Entry(Topic.VERDICT, "rank 2 is gone"), 0.31)
    ' +0.31 s  verdict    rank 2 is gone'
    """
    when = "" if seconds is None else f"{seconds:+.2f} s"
    return f"{when:>8}  {entry.topic.value:<9}  {entry.text}"


def _describe_verdict(verdict: Verdict) -> Entry:
    whom = verdict.node or ", ".join(verdict.members) or "the job"
    return Entry(
        Topic.VERDICT,
        f"{verdict.status.value} {verdict.severity.value} {verdict.fault.value} on {whom} "
        f"({verdict.tier.value}, confidence {verdict.confidence:.2f}): {verdict.summary}",
    )


def _describe_event(event: Event) -> Entry | None:
    if event.kind is EventKind.PROCESS_EXIT:
        return Entry(Topic.EVENT, _exit_text(event))
    if event.kind is EventKind.MEMBERSHIP and event.details.get("change") == "replaced_by":
        return Entry(
            Topic.ACTION,
            f"rank {event.rank} moves from {event.node} to {event.details.get('by')}",
        )
    if event.kind is EventKind.JOB_STATE:
        return _state_entry(event)
    if event.kind is EventKind.CHECKPOINT:
        return Entry(Topic.EVENT, f"checkpoint {event.details.get('result')}")
    return None


def _exit_text(event: Event) -> str:
    how = (
        f"signal {event.details['signal']}"
        if event.details.get("signal") is not None
        else f"exit code {event.details.get('exit_code')}"
    )
    expected = " (ended by the launcher)" if event.details.get("expected") else ""
    return f"process of rank {event.rank} on {event.node} ended with {how}{expected}"


def _state_entry(event: Event) -> Entry:
    state = event.details.get("state")
    if is_training_again(event):
        return Entry(Topic.RECOVERY, _training_text(event))
    topic = Topic.ACTION if state == JobState.RECOVERING.value else Topic.EVENT
    return Entry(topic, f"job is {state} (generation {event.generation})")


def _training_text(event: Event) -> str:
    lost = event.details.get("steps_lost")
    tail = "" if lost is None else f", {lost} steps lost"
    return f"job trains (generation {event.generation}, step {event.details.get('step', 0)}{tail})"
