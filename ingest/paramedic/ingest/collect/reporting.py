"""Says in single lines what people should know: what was found, what is missing, who is silent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from paramedic.ingest.collect.configuration import EVERYBODY
from paramedic.ingest.contract import EventKind, JobState
from paramedic.ingest.some_names import some_names
from paramedic.ingest.wording import counted

if TYPE_CHECKING:
    from paramedic.ingest.collect.configuration import CollectConfig
    from paramedic.ingest.collect.status import CollectStatus
    from paramedic.ingest.contract import Event, NodeName

_SILENCE_LINES_APART_SECONDS = 10.0
_SILENCE_LASTS = 60.0
"""Seconds; longer than the pause between any source's tries."""
_NO_DIGITS = str.maketrans("", "", "0123456789")


class Reporter:
    """Tells every state once, when it begins and when it is over. Times are any steady clock's."""

    def __init__(
        self, config: CollectConfig, tell: Callable[[str], None], note: Callable[[str], None]
    ) -> None:
        """`note` hears of jobs that come and go, which the events on the bus say too."""
        self._config = config
        self._tell = tell
        self._note = note
        self._first_page_at: float | None = None
        self._told: set[str] = set()
        self._silent: dict[str, tuple[str, float]] = {}
        """Of those that give nothing: why, and when that was last said."""
        self._silent_told: dict[str, set[str]] = {}
        """The reasons that were told of each silence, numbers left out."""
        self._silence_at = -_SILENCE_LINES_APART_SECONDS
        self._trouble: str | None = None
        self._strangers: tuple[NodeName, ...] = ()
        self._strangers_at = 0.0
        """Since when they have been the same."""
        self._are_strangers_told = False
        self._are_twins_told = False

    @property
    def silent_origins(self) -> int:
        """How many origins do not answer now."""
        return len(self._silent)

    @property
    def silence(self) -> str:
        """Who does not answer now, and why the first of them does not; empty if all do."""
        origins = list(self._silent)
        return _of_silence(origins, self._silent[origins[0]][0]) if origins else ""

    def heard(self, origin: str, now: float) -> None:
        """The origin has given a page."""
        if self._first_page_at is None:
            self._first_page_at = now
        if self._silent:
            self._silent.pop(origin, None)

    def silent(self, origin: str, reason: str, now: float) -> None:
        """The origin has given nothing; sources say so again and again as long as it lasts."""
        self._silent[origin] = (reason, now)

    def ended(self, name: str, reason: str) -> None:
        """A source has ended because it can never work."""
        self._tell(f"{name}: {reason}")

    def events(self, events: Sequence[Event], status: Callable[[], CollectStatus]) -> None:
        """Tell what the events of a page mean; members that came with their job are not listed."""
        announced = set()
        moves: dict[tuple[str, str], list[str]] = defaultdict(list)
        for event in events:
            state = event.details.get("state")
            if event.kind is EventKind.MEMBERSHIP and event.job not in announced:
                moves[event.job, str(event.details["change"])].append(str(event.node))
            elif state == JobState.STARTING.value:
                announced.add(event.job)
                self._announce(event, status())
            elif state == JobState.FINISHED.value:
                self._note(f"job {event.job} has ended: {event.details['reason']}")
        for (job, change), nodes in moves.items():
            verb = "joined" if change == "joined" else "left"
            self._note(f"job {job}: {some_names(nodes)} {verb}")

    def forgotten(self, jobs: int, messages: int) -> None:
        """The bus has come back empty, and what is known of the jobs is told to it again."""
        number = counted(jobs, "job")
        self._tell(
            f"the bus has come back without the {messages} messages that it had taken from here"
            f" (expired ones included); what is known of {number} is told to it again"
        )

    def look(self, status: CollectStatus, trouble: str | None, now: float) -> None:
        """Tell what has changed since the last look; `trouble` is what the bus says."""
        self._look_at_silence(now)
        self._look_at_bus(trouble)
        is_early = (
            self._first_page_at is None
            or now - self._first_page_at < self._config.quiet_start_seconds
        )
        if is_early:
            return
        self._look_at_twins(status.twins)
        if status.jobs:
            self._look_at_strangers(status.strangers, now)
        elif not status.gpus:
            self._tell_once(
                "no GPU metrics have arrived, so there is nothing to judge: is dcgm-exporter "
                "(or amd device-metrics-exporter) scraped?"
            )
        else:
            self._tell_once(
                f"{counted(status.hosts, 'host')} with {counted(status.gpus, 'GPU')}, but no"
                " label names a job and none is in use: waiting for work (--job-labels names them)"
            )

    def _announce(self, event: Event, status: CollectStatus) -> None:
        if event.job == EVERYBODY:
            self._tell_once(
                f"no label names a job, so all busy hosts are one job, {EVERYBODY} "
                "(--job-labels names them)"
            )
        job = status.jobs[event.job]
        grid = job.sampling_seconds
        size = f"{counted(job.nodes, 'node')}, {counted(job.gpus, 'GPU')}"
        every = "every second" if grid == 1 else f"every {grid} s"
        self._note(f"job {event.job}: {size}, a sample {every}")

    def _look_at_silence(self, now: float) -> None:
        for origin in [one for one, (_, at) in self._silent.items() if now - at > _SILENCE_LASTS]:
            del self._silent[origin]
        reasons = {origin: _without_numbers(why) for origin, (why, _) in self._silent.items()}
        told = self._silent_told
        fresh = [one for one, reason in reasons.items() if reason not in told.get(one, ())]
        back = [origin for origin in told if origin not in self._silent]
        is_soon = now - self._silence_at < _SILENCE_LINES_APART_SECONDS
        if is_soon or not (fresh or back):
            return
        self._silence_at = now
        if fresh:
            self._tell(_of_silence(fresh, self._silent[fresh[0]][0]))
        if back:
            verb = "answers" if len(back) == 1 else "answer"
            self._tell(f"{some_names(sorted(back))} {verb} again")
        self._silent_told = {one: {*told.get(one, ()), reason} for one, reason in reasons.items()}

    def _look_at_strangers(self, strangers: tuple[NodeName, ...], now: float) -> None:
        if strangers != self._strangers:
            self._strangers, self._strangers_at = strangers, now
        lasts = now - self._strangers_at >= self._config.quiet_start_seconds
        if not strangers or self._are_strangers_told or not lasts:
            return
        self._are_strangers_told = True
        hosts = counted(len(strangers), "host")
        self._tell(
            f"host telemetry of {hosts} matches no job: {some_names(strangers)} "
            "(no GPU telemetry names the same node)"
        )

    def _look_at_twins(self, twins: tuple[NodeName, ...]) -> None:
        if not twins or self._are_twins_told:
            return
        self._are_twins_told = True
        verb = "is the name" if len(twins) == 1 else "are the names"
        self._tell(
            f"{some_names(twins)} {verb} of machines in different jobs at once: each is followed in"
            " its own job by its GPUs, and what host exporters say is left out (give machines names"
            " of their own)"
        )

    def _look_at_bus(self, trouble: str | None) -> None:
        if (trouble is None) is (self._trouble is None):
            return
        self._trouble = trouble
        kept = self._config.buffer_seconds
        self._tell(
            "the bus takes messages again"
            if trouble is None
            else f"{trouble}; up to {kept:g} s of telemetry are kept meanwhile"
        )

    def _tell_once(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._tell(text)


def _without_numbers(reason: str) -> str:
    """The kind of a reason: how long something lasts makes no news of it."""
    return reason.translate(_NO_DIGITS)


def _of_silence(origins: Sequence[str], reason: str) -> str:
    """Who gives nothing and why; reasons often name the first of them already.

    >>> _of_silence(["http://a"], "http://a answers with HTTP 503: busy")
    'http://a answers with HTTP 503: busy'
    >>> _of_silence(["http://a", "http://b"], "http://a: Connection refused")
    'http://a, http://b give nothing: Connection refused'
    """
    named = origins[0].rstrip("/")
    rest = reason.removeprefix(named)
    is_named = rest != reason and rest.startswith((" ", ": "))
    if is_named and rest.startswith(" ") and len(origins) == 1:
        return reason
    why = rest.lstrip(": ") if is_named else reason
    verb = "gives" if len(origins) == 1 else "give"
    return f"{some_names(origins)} {verb} nothing: {why}"
