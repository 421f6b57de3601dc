"""Explains a verdict, or why nothing has fired about a node."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from paramedic.api.wiring.errors import InputError
from paramedic.api.wiring.explain_figure import draw_figure, require_place
from paramedic.api.wiring.explain_telemetry import Excerpt, telemetry_of
from paramedic.api.wiring.explain_verdicts import apart_from, ids_of, life_in_file, verdict_at
from paramedic.api.wiring.replay import SYSTEM_TIME, detector_of, judged, played
from paramedic.api.wiring.telling import say, tell, tell_lines
from paramedic.diagnosis.contract import Status
from paramedic.diagnosis.explanation.considering import considered
from paramedic.diagnosis.explanation.explained import (
    Explanation,
    holds_to_list,
    standings_to_list,
)
from paramedic.diagnosis.explanation.telling import lines_of_node, lines_of_verdict
from paramedic.ingest.contract import NodeName, format_time
from paramedic.ingest.recordings.moment import MICROSECONDS
from paramedic.ingest.some_names import some_names

if TYPE_CHECKING:
    from paramedic.api.settings.schema import Settings
    from paramedic.diagnosis.contract import Verdict
    from paramedic.diagnosis.explanation.standing import Standing
    from paramedic.ingest.recordings.moment import Moment
    from paramedic.ingest.recordings.recording import Recording

_AT_MAXIMUM_SPEED = float("inf")
_DRAWN = timedelta(minutes=11)
"""A figure begins at most so long before the evidence."""


@dataclass(frozen=True, slots=True)
class ExplainRequest:
    """What is to be explained, and from what."""

    subject: str
    """A verdict's id, or a node."""
    recording: Path | None = None
    """A recording, a ring, or the folder of a run."""
    verdicts: Path | None = None
    url: str | None = None
    at: datetime | None = None
    figure: Path | None = None
    job: str | None = None
    as_json: bool = False


@dataclass(slots=True)
class _Replay:
    """What a replay has said, and how evidence stood when the verdict that is looked for fired."""

    said: list[Verdict] = field(default_factory=list)
    considered: tuple[Standing, ...] | None = None
    """None as long as it has not fired."""
    apart_seconds: float = math.inf
    """How far from the verdict's first firing that was."""

    def life(self, verdict_id: str) -> tuple[Verdict, ...]:
        return tuple(one for one in self.said if one.id == verdict_id)


def explain_verdict(
    request: ExplainRequest, settings: Settings, stdout: TextIO, stderr: TextIO
) -> int:
    """Say why a verdict was given. Raises PreflightError, InputError or RecordingError."""
    if request.figure is not None:
        require_place(request.figure)
    life = _given(request)
    if request.recording is None:
        return _show(Explanation(life), request, stdout, stderr)
    with telemetry_of(request.recording, _excerpt(life, request), stderr) as recording:
        found = _looked_for(recording, settings, stderr, apart_from(life, request.subject))
        own = life or found.life(request.subject)
        if not own:
            raise InputError(
                f"{request.recording}: its replay gives no verdict {request.subject};"
                f" {ids_of(found.said)}"
            )
        if found.considered is None:
            say(stderr, "a replay does not give this verdict: what else was considered is unknown")
        if request.figure is not None:
            draw_figure(request.figure, own[-1], recording, stderr)
    return _show(Explanation(own, found.considered or ()), request, stdout, stderr)


def draw_verdict(request: ExplainRequest, stderr: TextIO) -> int:
    """Only draw a verdict that was told. Raises InputError, OutputError or RecordingError."""
    verdict = _given(request)[-1]
    excerpt = Excerpt(request.job or verdict.job, verdict.onset, verdict.detected_at, _DRAWN)
    if request.recording is None or request.figure is None:
        raise InputError("a figure needs a recording to be drawn from, and a file")
    with telemetry_of(request.recording, excerpt, stderr) as recording:
        draw_figure(request.figure, verdict, recording, stderr)
    return 0


def explain_node(
    request: ExplainRequest, settings: Settings, stdout: TextIO, stderr: TextIO
) -> int:
    """Say how the evidence about a node stands. Raises InputError or RecordingError."""
    node, folder = NodeName(request.subject), request.recording
    if folder is None:
        raise InputError(f"{node} is explained from telemetry: name it with --recording")
    with telemetry_of(folder, Excerpt(request.job, last=request.at), stderr) as recording:
        _require_node(node, recording, folder)
        at = _moment_in(recording, request.at, folder)
        detector = detector_of(recording, settings)
        said = list(judged(detector, _until(at, played_at_once(recording, stderr))))
        standings, holds = detector.standing(node), detector.holds(node)
    newest = {one.id: one for one in said if one.node == node or node in one.members}
    still_open = [one for one in newest.values() if one.status is not Status.RESOLVED]
    ends = {one.id: detector.waits_for(one) for one in still_open}
    if request.as_json:
        fields = {
            "node": node,
            "at": format_time(at),
            "open": [one.to_dict() for one in still_open],
            "ends": {one: holds_to_list(found) for one, found in ends.items()},
            "holds": holds_to_list(holds),
            "standing": standings_to_list(standings),
        }
        tell(stdout, json.dumps(fields) + "\n")
    else:
        tell_lines(stderr, lines_of_node(node, at, still_open, standings, holds, ends))
    return 0


def played_at_once(recording: Recording, stderr: TextIO) -> Iterator[Moment]:
    """The moments of a recording, as fast as they can be read."""
    return played(recording, _AT_MAXIMUM_SPEED, stderr, SYSTEM_TIME)


def _given(request: ExplainRequest) -> tuple[Verdict, ...]:
    """The verdict as it was told; empty where only a replay can tell it."""
    if request.verdicts is not None:
        return life_in_file(request.verdicts, request.subject)
    if request.url is not None:
        return (verdict_at(request.url, request.subject),)
    return ()


def _excerpt(life: tuple[Verdict, ...], request: ExplainRequest) -> Excerpt:
    if not life:
        return Excerpt(request.job, is_whole=True)
    return Excerpt(request.job or life[0].job, life[0].onset, life[-1].detected_at)


def _looked_for(
    recording: Recording,
    settings: Settings,
    stderr: TextIO,
    apart_of: Callable[[Verdict], float | None],
) -> _Replay:
    detector, found = detector_of(recording, settings), _Replay()
    for verdict in judged(detector, played_at_once(recording, stderr)):
        found.said.append(verdict)
        apart = apart_of(verdict)
        if apart is not None and apart < found.apart_seconds:
            found.apart_seconds, found.considered = apart, considered(verdict, detector)
    return found


def _require_node(node: NodeName, recording: Recording, folder: Path) -> None:
    if node not in recording.nodes:
        raise InputError(
            f"{folder}: no telemetry of a node {node!r}: it has"
            f" {some_names(sorted(recording.nodes))}; a verdict's id has 26 characters,"
            f" and `paramedic replay {folder}` lists them"
        )


def _moment_in(recording: Recording, at: datetime | None, folder: Path) -> datetime:
    """The moment that was asked for, or the end. Raises InputError for one that is not in it."""
    seconds = recording.seconds
    ends = seconds.stop if at is None else recording.ends
    first, last = (datetime.fromtimestamp(one, UTC) for one in (seconds.start, ends))
    if at is None:
        return last
    if not first <= at <= last:
        where = "begins only" if at < first else "has ended by then: it begins"
        raise InputError(
            f"--at {format_time(at)}: {folder} {where} at {format_time(first)} and ends at"
            f" {format_time(last)}: name a moment in between, or leave --at out for its end"
        )
    return at


def _until(at: datetime, moments: Iterable[Moment]) -> Iterator[Moment]:
    """What had arrived by then."""
    end = at.timestamp() * MICROSECONDS
    for moment in moments:
        if moment.arrived > end:
            return
        yield moment


def _show(explanation: Explanation, request: ExplainRequest, stdout: TextIO, stderr: TextIO) -> int:
    if request.as_json:
        tell(stdout, json.dumps(explanation.to_dict()) + "\n")
    else:
        tell_lines(stderr, lines_of_verdict(explanation))
    return 0
