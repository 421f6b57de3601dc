"""Known errors of one job: from events and slots to verdicts in its docket.

A code accuses the GPU that told it, at once. What the driver asks for, in Xid 154 or as
`gpu_recovery_action`, decides the action whichever comes first. Several GPUs of a node that tell
something at once have one verdict, about the node.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from paramedic.diagnosis.cards import is_return
from paramedic.diagnosis.contract import Fault, Phase, Tier
from paramedic.diagnosis.finding import Subject, Trouble, moment
from paramedic.diagnosis.known_errors.entry import Kind
from paramedic.diagnosis.known_errors.judging import judge_reports
from paramedic.diagnosis.known_errors.metrics import MetricRules
from paramedic.diagnosis.known_errors.report import Place, report_of_code, report_of_event

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from paramedic.diagnosis.contract import Verdict
    from paramedic.diagnosis.docket import Docket
    from paramedic.diagnosis.finding import Finding
    from paramedic.diagnosis.going_on import GoingOn
    from paramedic.diagnosis.known_errors.entry import KnownErrors
    from paramedic.diagnosis.known_errors.memory import KnownErrorMemory
    from paramedic.diagnosis.known_errors.report import Report
    from paramedic.diagnosis.known_errors.settings import KnownErrorSettings
    from paramedic.diagnosis.picture import JobPicture
    from paramedic.ingest.contract import Event, NodeName, Window


class KnownErrorWatch:
    """Judges what drivers and counters tell; what it remembers is handed in."""

    def __init__(self, known_errors: KnownErrors, settings: KnownErrorSettings) -> None:
        self._known_errors = known_errors
        self._settings = settings
        self._rules = MetricRules(known_errors)

    def hear(
        self, event: Event, memory: KnownErrorMemory, picture: JobPicture, docket: Docket
    ) -> Iterator[Verdict]:
        """What an event decides."""
        if event.node is not None and event.node in picture.departed:
            memory.forget(event.node)
            return
        if event.node is not None and is_return(event):
            memory.forget_gpu(Place(event.node, event.gpu))
        report = report_of_event(event, self._known_errors)
        if report is None:
            return
        node, now = report.place.node, event.timestamp.timestamp()
        memory.drop_older(node, now - self._settings.quiet_seconds)
        memory.add(report)
        if report.is_drivers_word and report.value == 0:
            yield from self._judge_end(node, now, memory, docket)
        else:
            yield from self._judge(node, memory, picture, docket)

    def look(
        self,
        window: Window,
        memory: KnownErrorMemory,
        picture: JobPicture,
        docket: Docket,
        going_on: GoingOn,
    ) -> Iterator[Verdict]:
        """What the newest slot of the GPUs decides, and what has long been quiet."""
        second = window.last_second
        over = [one for one in self._rules.over(window, memory.held()) if memory.drop(*one)]
        news = [one for one in self._reports(window, memory) if memory.add(one)]
        for node in dict.fromkeys(one.place.node for one in news):
            if node not in picture.departed:
                yield from self._judge(node, memory, picture, docket)
        for node in dict.fromkeys(place.node for place, _ in over):
            yield from self._judge_end(node, second, memory, docket)
        yield from self._resolve_quiet(second, memory, picture, docket, going_on)

    def _reports(self, window: Window, memory: KnownErrorMemory) -> Iterator[Report]:
        yield from self._rules.shown(window)
        for place, metric, growth in self._rules.growths(window):
            whole = memory.grow(place, metric, growth)
            report = self._rules.grown(place, metric, whole, moment(window.last_second))
            if report is not None:
                yield report
        yield from self._shown_codes(window, memory)

    def _shown_codes(self, window: Window, memory: KnownErrorMemory) -> Iterator[Report]:
        """Codes that the gauge shows newly, unless an event has told of them."""
        at = moment(window.last_second)
        for place, code in memory.gauge.news(window):
            report = report_of_code(Kind.XID, place, code, at, self._known_errors)
            if not memory.has_told(report):
                yield report

    def _judge(
        self, node: NodeName, memory: KnownErrorMemory, picture: JobPicture, docket: Docket
    ) -> Iterator[Verdict]:
        places = memory.places(node)
        is_wide = docket.known(node, Trouble.CARD) is not None
        if not is_wide and self._are_several_at_once(places):
            is_wide = True
            gpus = [place.gpu for place, told in places.items() if _is_telling(told.values())]
            yield from docket.widen(node, Trouble.CARD, gpus)
        for finding in _findings(node, places, max(picture.generation, 0), is_wide=is_wide):
            if not self._is_echo(finding, places, docket):
                yield from docket.revise(finding)

    def _are_several_at_once(self, places: Mapping[Place, Mapping[str, Report]]) -> bool:
        """Whether two places told something that acts within a short time."""
        times = [
            [one.first.timestamp() for one in told.values() if one.is_telling]
            for told in places.values()
        ]
        return any(
            abs(one - other) <= self._settings.together_seconds
            for here, there in combinations(times, 2)
            for one in here
            for other in there
        )

    def _is_echo(
        self, finding: Finding, places: Mapping[Place, Mapping[str, Report]], docket: Docket
    ) -> bool:
        """Whether a program's error has been told of another node already."""
        told = [one for reports in places.values() for one in reports.values() if one.is_telling]
        if not all(one.is_applications for one in told):
            return False
        at = finding.detected_at.timestamp()
        return any(
            verdict.fault is Fault.CUDA_EXECUTION_ERROR
            and verdict.tier is Tier.KNOWN_ERROR
            and subject.node != finding.node
            and abs(at - verdict.detected_at.timestamp()) <= self._settings.echo_seconds
            for subject, verdict in docket.open.items()
        )

    def _judge_end(
        self, node: NodeName, second: float, memory: KnownErrorMemory, docket: Docket
    ) -> Iterator[Verdict]:
        """What is over now that a state is, or that the driver wants nothing done any more."""
        for subject in _subjects(docket, node):
            told = list(_told(subject, memory))
            is_asked = any(one.is_drivers_word and one.value == 0 for one in told)
            is_lost = docket.open[subject].fault is Fault.GPU_CARD_DROP
            if not is_asked and (is_lost or _is_telling(told)):
                continue
            for one in told:
                memory.drop(one.place, one.label)
            reason = "what its driver or its counters told is over"
            yield from docket.clear(node, Trouble.CARD, moment(int(second)), reason, subject.gpu)

    def _resolve_quiet(
        self,
        second: int,
        memory: KnownErrorMemory,
        picture: JobPicture,
        docket: Docket,
        going_on: GoingOn,
    ) -> Iterator[Verdict]:
        """Ends what has not been told again for long.

        A lost card ends by being back or gone, what has failed not before the job goes on.
        """
        oldest = second - self._settings.quiet_seconds
        for node in memory.nodes():
            memory.drop_older(node, oldest)
        for subject, verdict in list(docket.open.items()):
            is_ours = subject.trouble is Trouble.CARD and verdict.fault is not Fault.GPU_CARD_DROP
            at = verdict.detected_at.timestamp()
            if not is_ours or subject.node is None or at >= oldest or any(_told(subject, memory)):
                continue
            is_over = picture.is_over(verdict.generation, at) or going_on.after(verdict)
            if verdict.phase is not Phase.FAILED or is_over:
                reason = f"nothing of it was told for {self._settings.quiet_seconds:g} s"
                yield from docket.clear(
                    subject.node, Trouble.CARD, moment(second), reason, subject.gpu
                )


def _is_telling(told: Iterable[Report]) -> bool:
    return any(one.is_telling for one in told)


def _findings(
    node: NodeName,
    places: Mapping[Place, Mapping[str, Report]],
    generation: int,
    *,
    is_wide: bool,
) -> Iterator[Finding]:
    """What a node's places are accused of: each by itself, or the node as a whole."""
    together: list[tuple[Place, list[Report]]]
    if is_wide:
        whole = [one for told in places.values() for one in told.values()]
        together = [(Place(node, None), whole)]
    else:
        together = [(place, list(told.values())) for place, told in places.items()]
    for place, reports in together:
        finding = judge_reports(reports, place, generation)
        if finding is not None:
            yield finding


def _subjects(docket: Docket, node: NodeName) -> list[Subject]:
    return [one for one in docket.open if one.node == node and one.trouble is Trouble.CARD]


def _told(subject: Subject, memory: KnownErrorMemory) -> Iterator[Report]:
    """What is remembered of what an open verdict is about."""
    if subject.node is None:
        return
    for place, told in memory.places(subject.node).items():
        if subject.gpu is None or place.gpu == subject.gpu:
            yield from told.values()
