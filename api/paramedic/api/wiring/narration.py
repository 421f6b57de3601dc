"""What an event or a verdict means to somebody who watches, in one line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from paramedic.api.wiring.wording import counted
from paramedic.diagnosis.contract import Verdict
from paramedic.ingest.contract import Event, EventKind, JobState
from paramedic.ingest.some_names import some_names


class Theme(StrEnum):
    """What a line speaks of; terminals show each in a colour of its own."""

    DEMO = "demo"
    INJECTION = "injection"
    EVENT = "event"
    VERDICT = "verdict"
    ACTION = "action"
    RECOVERY = "recovery"


@dataclass(frozen=True, slots=True)
class Line:
    """A line before it has a time."""

    theme: Theme
    text: str


def narrate(said: Event | Verdict) -> Line | None:
    """The line of an event or a verdict; None for what only fills the screen."""
    return _of_verdict(said) if isinstance(said, Verdict) else _of_event(said)


def lines_of_job(job: str) -> Callable[[Event | Verdict], list[str]]:
    """What the narrator of one job hears: a line with its theme, or nothing."""

    def hear(said: Event | Verdict) -> list[str]:
        line = narrate(said) if said.job == job else None
        return [] if line is None else [f"{line.theme.value}: {line.text}"]

    return hear


def is_training(event: Event) -> bool:
    """Whether the event says that the job trains, at the start or after a recovery."""
    return (
        event.kind is EventKind.JOB_STATE and event.details.get("state") == JobState.TRAINING.value
    )


def _of_verdict(verdict: Verdict) -> Line:
    whom = verdict.node or some_names(verdict.members) or "the job"
    return Line(
        Theme.VERDICT,
        f"{verdict.status.value} {verdict.severity.value} {verdict.fault.value} on {whom} "
        f"({verdict.tier.value}, confidence {verdict.confidence:.2f}): {verdict.summary}",
    )


def _of_event(event: Event) -> Line | None:
    if event.kind is EventKind.PROCESS_EXIT:
        return _of_exit(event)
    if event.kind is EventKind.MEMBERSHIP and event.details.get("change") == "replaced_by":
        return Line(
            Theme.ACTION,
            f"rank {event.rank} moves from {event.node} to {event.details.get('by')}",
        )
    if event.kind is EventKind.JOB_STATE:
        return _of_state(event)
    if event.kind is EventKind.CHECKPOINT:
        return Line(Theme.EVENT, f"checkpoint {event.details.get('result')}")
    return None


def _of_exit(event: Event) -> Line | None:
    is_expected = bool(event.details.get("expected"))
    if is_expected and (event.rank is None or event.details.get("exit_code") == 0):
        return None
    number = event.details.get("signal")
    how = f"signal {number}" if number else f"exit code {event.details.get('exit_code')}"
    whose = "a spare" if event.rank is None else f"rank {event.rank}"
    by = f" ({_ended_by_launcher(event)})" if event.details.get("ended_by") == "launcher" else ""
    return Line(Theme.EVENT, f"process of {whose} on {event.node} ended with {how}{by}")


def _ended_by_launcher(event: Event) -> str:
    reason = event.details.get("reason")
    return f"ended by the launcher: {reason}" if reason else "ended by the launcher"


def _of_state(event: Event) -> Line:
    state = event.details.get("state")
    if is_training(event):
        theme = Theme.RECOVERY if event.generation else Theme.EVENT
        return Line(theme, f"job trains ({', '.join(_where_it_trains(event))})")
    if state == JobState.FINISHED.value:
        return Line(Theme.EVENT, _end_of_job(event))
    theme = Theme.ACTION if state == JobState.RECOVERING.value else Theme.EVENT
    return Line(theme, f"job is {state} (generation {event.generation})")


def _where_it_trains(event: Event) -> Iterator[str]:
    yield f"generation {event.generation}"
    if (step := event.details.get("step")) is not None:
        yield f"step {step}"
    if (lost := event.details.get("steps_lost")) is not None:
        yield f"{counted(lost, 'step')} lost"


def _end_of_job(event: Event) -> str:
    """The state is `finished` at every end; how it ended is its result."""
    result, reason = event.details.get("result") or "finished", event.details.get("reason")
    because = f": {reason}" if reason and result != "finished" else ""
    return f"job has {result}{because} (generation {event.generation})"
