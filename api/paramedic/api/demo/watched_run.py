"""The run that is hurt: started, left to settle, hit, and watched to its end."""

from __future__ import annotations

import random
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from paramedic.api.demo.child import ChildVerb, child_verb
from paramedic.api.demo.errors import DemoRunError
from paramedic.api.demo.hurting import choose_target, describe_injection, hurting
from paramedic.api.demo.observations import Injection, Observed
from paramedic.api.demo.reference import last_line_of, training_command
from paramedic.api.demo.request import InjectedFault
from paramedic.api.demo.watch import Watch
from paramedic.api.wiring.narration import Line, Theme
from paramedic.api.wiring.observing import placements, read_batch, subscribe_to_all
from paramedic.api.wiring.run_folder import RECORD_FILE, RunRecord
from paramedic.api.wiring.service_commands import setting_flags
from paramedic.ingest.contract import BusUnavailableError

if TYPE_CHECKING:
    from paramedic.api.demo.request import DemoRequest
    from paramedic.api.demo.screen import Screen

JOB = "demo"
LOSSES = "losses"
_LOOK_SECONDS = 0.1
_START_SECONDS = 60.0
_STUCK_SECONDS = 180.0
_SETTLE_SECONDS = 20.0
_SETTLE_SHARE = 0.25
_LEAST_SETTLE_SECONDS = 10.0
"""Ranks are not compared in a job's first seconds, and four slots are the least to compare by."""
_LATEST_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Watched:
    """What was seen of the run."""

    observed: tuple[Observed, ...]
    injection: Injection | None
    ranks_of_nodes: dict[str, int]
    exit_code: int
    """0 also for a healthy run that was ended by time."""


def watch_run(
    request: DemoRequest, script: Path, run_folder: Path, log: Path, screen: Screen
) -> Watched:
    """Run the training, hit a rank, and watch to the end.

    Raises DemoRunError when the run breaks before the fault.
    """
    losses = run_folder / LOSSES
    arguments = (
        "run", "--job", JOB, "--run-folder", str(run_folder),
        *setting_flags(request.settings, {"recording.ring_bytes": 0}),
        "--", *training_command(script, request.steps, losses),
    )  # fmt: skip
    with child_verb(arguments, log, request.environment) as child:
        record = _wait_for_record(child, run_folder, log)
        subscription = subscribe_to_all(record.bus or "")
        try:
            watch = Watch(subscription, screen, time.monotonic, read_batch)
            watch.say(Line(Theme.DEMO, f"run folder {run_folder}, API {record.api}"))
            return _Course(request, child, watch, Path(record.control_socket), log).follow()
        finally:
            subscription.close()


def has_settled(watch: Watch, steps: int, now_seconds: float) -> bool:
    """Twenty seconds of training, or a quarter of the steps of a short one and ten seconds.

    The fault comes in the middle of the steps at the latest.
    """
    step = watch.pulse.step or 0
    trained = watch.pulse.trained_seconds(now_seconds)
    is_short = step >= max(1, round(_SETTLE_SHARE * steps)) and trained >= _LEAST_SETTLE_SECONDS
    return is_short or trained >= _SETTLE_SECONDS or step >= max(1, round(_LATEST_SHARE * steps))


@dataclass(slots=True)
class _Course:
    """The course of one watched run."""

    request: DemoRequest
    child: ChildVerb
    watch: Watch
    control_socket: Path
    log: Path
    was_ended_by_time: bool = False

    def follow(self) -> Watched:
        ranks_of_nodes: dict[str, int] = {}
        with ExitStack() as stack:
            if self.request.fault is not InjectedFault.NONE:
                self._settle()
                ranks_of_nodes = self._hit(stack)
            self._watch_to_the_end()
        return Watched(
            tuple(self.watch.observed), self.watch.injection, ranks_of_nodes, self._exit_code()
        )

    def _settle(self) -> None:
        self.watch.say(Line(Theme.DEMO, "waiting until the job trains and has settled"))
        while not has_settled(self.watch, self.request.steps, time.monotonic()):
            if not self._look():
                raise DemoRunError(f"the run broke before the fault: {last_line_of(self.log)}")
            if self.watch.stalled_seconds() > _STUCK_SECONDS:
                raise DemoRunError(
                    f"no rank reported a step for {_STUCK_SECONDS:g} s: see the logs beside "
                    f"{self.log}"
                )

    def _hit(self, stack: ExitStack) -> dict[str, int]:
        now = placements(self.control_socket, JOB)
        target = choose_target(now, self.request.rank, random.Random(self.request.seed))
        self.watch.injection = stack.enter_context(hurting(self.request.fault, target))
        text = describe_injection(self.request.fault, target)
        self.watch.say(Line(Theme.INJECTION, text))
        return {one.node: one.rank for one in now if one.rank is not None}

    def _watch_to_the_end(self) -> None:
        while self._look():
            if self._is_time():
                self.was_ended_by_time = True
                self.child.interrupt()
                return
            if self.watch.stalled_seconds() > _STUCK_SECONDS:
                text = f"no new step for {_STUCK_SECONDS:g} s: the run is ended"
                self.watch.say(Line(Theme.DEMO, text))
                self.child.interrupt()
                return

    def _is_time(self) -> bool:
        seconds = self.request.seconds
        trained = self.watch.pulse.trained_seconds(time.monotonic())
        return seconds is not None and trained >= seconds

    def _look(self) -> bool:
        """Take what has arrived; False once the run is over."""
        if self.child.exit_code is not None:
            return False
        try:
            self.watch.look(_LOOK_SECONDS)
        except BusUnavailableError:
            # The embedded bus goes a moment before its process.
            return not self.child.is_over(_LOOK_SECONDS)
        return True

    def _exit_code(self) -> int:
        code = self.child.end()
        return 0 if self.was_ended_by_time else code


def _wait_for_record(child: ChildVerb, run_folder: Path, log: Path) -> RunRecord:
    deadline = time.monotonic() + _START_SECONDS
    while not (run_folder / RECORD_FILE).exists():
        if child.is_over(_LOOK_SECONDS) or time.monotonic() > deadline:
            raise DemoRunError(f"the run did not start: {last_line_of(log)}")
    return RunRecord.read(run_folder)
