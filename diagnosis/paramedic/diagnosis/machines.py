"""The machines of one job: which depart from their peers, which are no longer heard of.

Only jobs with GPU telemetry are judged: what an agent says of a process that shares its machine
with the whole job has no peers. A node that has failed in another way is not named a second time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paramedic.diagnosis.absence import EXPORTER_RESTART_SECONDS, AbsenceWatch
from paramedic.diagnosis.contract import Fault, Phase, Tier
from paramedic.diagnosis.departing import finding_of_departure
from paramedic.diagnosis.departures import DepartureWatch
from paramedic.diagnosis.excuses import Excuse
from paramedic.diagnosis.finding import Trouble, moment
from paramedic.diagnosis.group_words import finding_of_group
from paramedic.diagnosis.lost_cards import BACK_SECONDS, LostCards
from paramedic.diagnosis.membership import is_of_failed_group
from paramedic.diagnosis.one_card import is_with_departure
from paramedic.diagnosis.rank_judging import is_whole
from paramedic.diagnosis.silent_together import at_once
from paramedic.diagnosis.unheard import finding_of_absence
from paramedic.ingest.contract import Entity, EntityKey
from paramedic.models.departure.character import OF_ITSELF, OF_WORK, About

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from paramedic.diagnosis.absence import Absence
    from paramedic.diagnosis.contract import Verdict
    from paramedic.diagnosis.departure import Departure
    from paramedic.diagnosis.docket import Docket
    from paramedic.diagnosis.domain_watch import Befallen
    from paramedic.diagnosis.finding import Finding
    from paramedic.diagnosis.grouping import Group
    from paramedic.diagnosis.picture import JobPicture
    from paramedic.diagnosis.roles import JobRoles
    from paramedic.diagnosis.settings import DepartureSettings
    from paramedic.ingest.contract import NodeName, Window
    from paramedic.ingest.windows.job import JobWindows

KINDS = (Entity.GPU, Entity.NODE)
_MOSTLY = 0.7
_BEFORE_SECONDS = 10
"""Of what begins about then nobody knows which began first."""
_STANDING_SECONDS = 60
"""Whoever made the job stand shows it by then."""
_UNHEARD = (Fault.MACHINE_UNREACHABLE, Fault.NETWORK_GROUP)


@dataclass(slots=True)
class MachineWatch:
    """Departures and absences of one job."""

    settings: DepartureSettings
    departures: DepartureWatch = field(init=False)
    absences: AbsenceWatch = field(init=False)
    cards: LostCards = field(default_factory=LostCards)
    is_alone: bool = False
    """Whether a node has lost all its peers, so that it looks odd whatever it does."""
    _stretch: float = -math.inf
    _weighed: int = 0
    """The newest slot that has been added to the evidence."""

    def __post_init__(self) -> None:
        self.departures = DepartureWatch(self.settings)
        self.absences = AbsenceWatch(self.settings.telemetry_timeout_seconds)

    def judge(
        self,
        windows: Mapping[Entity, Window],
        late: Mapping[Entity, Mapping[NodeName, int]],
        picture: JobPicture,
        docket: Docket,
        roles: JobRoles | None = None,
    ) -> Iterator[Verdict]:
        """What the newest slot decides; windows of GPUs and nodes that end in one slot.

        `late` is when rows of a node last came too late.
        """
        gpus = windows[Entity.GPU]
        if not gpus.rows:
            return
        absences = self.absences.judge(windows, late)
        yield from self._judge_absences(absences, gpus.last_second, picture, docket)
        yield from self._judge_cards(gpus, picture, docket)
        if gpus.last_second > self._weighed:
            yield from self.weigh(windows, picture, docket, roles)
        if self._standing_since(windows) is None:
            yield from self._acquit(docket, gpus.last_second, gpus.slot_seconds)
        else:
            self.departures.stand()

    def judge_whole(
        self, windows: JobWindows, picture: JobPicture, docket: Docket, roles: JobRoles | None
    ) -> Iterator[Verdict]:
        """What the slots decide that are open still, and that every machine has told of.

        Nothing more can come of them, so the allowed lateness is not waited for.
        """
        while self._weighed > 0:
            second = self._weighed + windows.slot_seconds
            if not windows.is_heard(Entity.GPU, second):
                return
            gpus = windows.window_until(Entity.GPU, second)
            if not gpus.rows or not is_whole(gpus):
                return
            nodes = windows.window_until(Entity.NODE, second)
            if nodes.rows and not is_whole(nodes):
                return
            yield from self.weigh({Entity.GPU: gpus, Entity.NODE: nodes}, picture, docket, roles)

    def weigh(
        self,
        windows: Mapping[Entity, Window],
        picture: JobPicture,
        docket: Docket,
        roles: JobRoles | None,
    ) -> Iterator[Verdict]:
        """Add the newest slot to the evidence, and accuse whom it decides about."""
        second = self._weighed = windows[Entity.GPU].last_second
        if picture.is_past(second) or not picture.is_fit(second, self.settings):
            return
        self.is_alone = _is_alone(windows[Entity.GPU], picture, docket)
        if self.has_stood(windows[Entity.GPU]) or self.is_alone:
            self.departures.restart()
            return
        if picture.stretch(second) > self._stretch:
            self._stretch = picture.stretch(second)
            self.departures.restart()
        standing_since = self._standing_since(windows)
        judged = self.departures.weigh(
            windows,
            roles,
            standing_since=standing_since,
            accused=docket.accused,
        )
        if judged.befallen is not None:
            yield from self._accuse_group(judged.befallen, picture, docket)
        may_wait = standing_since is not None or bool(self.absences.motion.worked)
        waits = may_wait and any(self._failed_causes(docket))
        for departure in judged.departures:
            excuse = _as_a_victim(departure, docket, roles, waits=waits)
            missed = self.absences.missed_for(departure.node, departure.since)
            if excuse is not None:
                self._excuse(departure, excuse)
            elif missed is not None:
                self._excuse(departure, Excuse.MISSED, missed, EXPORTER_RESTART_SECONDS)
            else:
                yield from self._accuse(departure, windows, picture, docket)

    def _excuse(
        self,
        one: Departure,
        excuse: Excuse,
        now: float | None = None,
        needed: float | None = None,
    ) -> None:
        self.departures.excuses.give(one.node, excuse, one.second, now, needed)

    def has_stood(self, gpus: Window) -> bool:
        """Whether the job does nothing for so long that how machines idle says nothing of it."""
        since = self.absences.motion.standing_since(gpus.slot_seconds)
        return since is not None and gpus.last_second - since > _STANDING_SECONDS

    def _standing_since(self, windows: Mapping[Entity, Window]) -> int | None:
        return self.absences.motion.standing_since(windows[Entity.GPU].slot_seconds)

    @property
    def weighed(self) -> int:
        """The newest slot that has been added to the evidence; 0: none."""
        return self._weighed

    def _accuse(
        self,
        departure: Departure,
        windows: Mapping[Entity, Window],
        picture: JobPicture,
        docket: Docket,
    ) -> tuple[Verdict, ...]:
        needed = self._needed_beside(departure, docket)
        if departure.nats < needed:
            self._excuse(departure, Excuse.SECOND, departure.nats, needed)
            return ()
        finding = finding_of_departure(
            departure, windows, picture.generation, self.departures.suspicion(), self.settings,
            is_standing=self._standing_since(windows) is not None,
        )  # fmt: skip
        said = _report(finding, picture, docket)
        if not said:
            is_out = _has_failed_or_left(departure.node, picture, docket)
            self._excuse(departure, Excuse.FAILED if is_out else Excuse.TOLD)
        return said

    def _accuse_group(
        self, befallen: Befallen, picture: JobPicture, docket: Docket
    ) -> tuple[Verdict, ...]:
        group, departure, window = befallen
        excuse = _of_group(group, departure, docket)
        if excuse is not None:
            self.departures.excuses.give(group.domain, excuse, departure.second)
            return ()
        windows = {window.entity: window}
        shown = finding_of_departure(departure, windows, 0, {}, self.settings)
        finding = finding_of_group(
            group,
            generation=picture.generation,
            second=departure.second,
            confidence=shown.confidence,
            strengths=self.departures.suspicion(),
            evidence=shown.evidence,
            shown=shown.fault,
        )
        return docket.report(finding)

    def _needed_beside(self, departure: Departure, docket: Docket) -> float:
        """How many nats are needed beside what is open: more of who looks odd since another is
        accused, for so do its victims."""
        settings = self.settings
        if departure.share_of(*OF_ITSELF) >= _MOSTLY:
            return 0.0
        failed_groups = [one for one in docket.groups if is_of_failed_group(one)]
        first = [
            one.onset.timestamp()
            for one in (*docket.not_working.values(), *failed_groups)
            if one.node != departure.node
            and departure.second - one.detected_at.timestamp() < settings.second_accusation_seconds
        ]
        is_second = any(begun <= departure.since for begun in first)
        return settings.second_accusation_factor * departure.level if is_second else 0.0

    def _judge_absences(
        self, absences: Iterable[Absence], second: int, picture: JobPicture, docket: Docket
    ) -> Iterator[Verdict]:
        for absence in absences:
            if not (absence.is_standing and self._is_known_why(absence, docket)):
                finding = finding_of_absence(absence, picture.generation)
                yield from _report(finding, picture, docket)
        for node in _open(docket, Trouble.UNHEARD):
            if self.absences.is_back(node):
                reason = f"the telemetry of {node} comes again"
                yield from docket.clear(node, Trouble.UNHEARD, moment(second), reason)
        for node in _open(docket, Trouble.ALIVE):
            is_silent = _is_of_rows(docket.known(node, Trouble.ALIVE), Tier.HEARTBEAT)
            if is_silent and self.absences.is_back(node) and self.absences.motion.is_moving:
                reason = f"{node} is heard of again, and the job goes on"
                yield from docket.clear(node, Trouble.ALIVE, moment(second), reason)

    def _is_known_why(self, absence: Absence, docket: Docket) -> bool:
        """Whether the job stands for another's failure, and this one is not silent since then."""
        causes = list(self._failed_causes(docket))
        return bool(causes) and not any(
            one.fault in _UNHEARD
            and at_once((one.failed_at or one.onset).timestamp(), absence.since)
            for one in causes
        )

    def _failed_causes(self, docket: Docket) -> Iterator[Verdict]:
        """Whose failure the job may stand for: it has not gone on since."""
        for one in docket.open.values():
            is_somebody = one.node is not None or bool(one.members)
            if one.phase is Phase.FAILED and is_somebody and not self._has_worked_since(one):
                yield one

    def _has_worked_since(self, one: Verdict) -> bool:
        return self.absences.motion.has_worked_since(one.detected_at.timestamp())

    def _judge_cards(self, gpus: Window, picture: JobPicture, docket: Docket) -> Iterator[Verdict]:
        for finding in self.cards.look(gpus, picture.generation):
            yield from _report(finding, picture, docket)
        for subject, verdict in list(docket.open.items()):
            if verdict.fault is not Fault.GPU_CARD_DROP or subject.node is None:
                continue
            row = EntityKey(Entity.GPU, subject.node, subject.gpu)
            told_seconds = gpus.last_second - verdict.detected_at.timestamp()
            if told_seconds >= BACK_SECONDS and self.cards.is_back(row, gpus.slot_seconds):
                reason = f"GPU {subject.gpu} of {subject.node} is reported again"
                yield from docket.clear(*subject[:2], moment(gpus.last_second), reason, subject.gpu)

    def _acquit(self, docket: Docket, second: int, slot_seconds: int) -> Iterator[Verdict]:
        for group in docket.groups:
            if group.tier is Tier.PATTERN and self.departures.are_well(group.members, slot_seconds):
                reason = f"{len(group.members)} nodes work like their peers again"
                yield from docket.clear_group(group, moment(second), reason)
        for subject, verdict in docket.not_working.items():
            is_of_card = is_with_departure(verdict) and verdict.rank is None
            is_ours = is_of_card or _is_of_rows(verdict, Tier.PATTERN)
            node = subject.node if is_ours else None
            if node is not None and self.departures.is_well(node, slot_seconds):
                reason = f"{node} works like its peers again"
                yield from docket.recover(subject, moment(second), reason)


def _is_alone(gpus: Window, picture: JobPicture, docket: Docket) -> bool:
    """Whether a node has lost all its peers: beside who has ended or failed, all look odd."""
    failed = {one.node for one in docket.open.values() if one.phase is Phase.FAILED}
    gone = picture.departed | failed
    if not gone:
        return False
    nodes = {row.node for row in gpus.rows}
    return not gone.isdisjoint(nodes) and len(nodes - gone) <= 1


def _as_a_victim(
    departure: Departure, docket: Docket, roles: JobRoles | None, *, waits: bool
) -> Excuse | None:
    """What excuses one that only works differently, as all do who wait for one that is accused.

    `waits`: the whole job waits for one that has failed, or has not gone on for long since.
    """
    # What a host does while it waits is nobody's concern either.
    about = (*OF_WORK, About.USAGE) if waits else OF_WORK
    if departure.share_of(*about) < _MOSTLY:
        return None
    if waits:
        return Excuse.FOLLOWS
    others = docket.accused - {departure.node}
    is_chained = roles is not None and any(
        roles.are_chained(node, departure.node) for node in others
    )
    return Excuse.CHAINED if is_chained else None


def _of_group(group: Group, departure: Departure, docket: Docket) -> Excuse | None:
    """Why a domain is not accused whose nodes depart together."""
    if any(not {*group.members}.isdisjoint(one.members) for one in docket.groups):
        return Excuse.TOLD
    congests = departure.share_of(About.CONGESTION) >= _MOSTLY
    is_of_one = congests and _is_of_one(group.members, departure.since, docket)
    return Excuse.ILL_BEFORE if is_of_one else None


def _is_of_one(members: tuple[NodeName, ...], since: int, docket: Docket) -> bool:
    """Whether one of them was ill before: a link that drops packets congests its whole switch."""
    ill = (one for subject, one in docket.not_working.items() if subject.node in members)
    return any(one.onset.timestamp() <= since - _BEFORE_SECONDS for one in ill)


def _is_of_rows(verdict: Verdict | None, tier: Tier) -> bool:
    """Whether it was decided here, by rows of machines, and not by a rank's own word."""
    return verdict is not None and verdict.rank is None and verdict.tier is tier


def _open(docket: Docket, trouble: Trouble) -> list[NodeName]:
    return [one.node for one in docket.open if one.trouble is trouble and one.node is not None]


def _report(finding: Finding, picture: JobPicture, docket: Docket) -> tuple[Verdict, ...]:
    """What the finding fires, unless the node has left or it is known why it departs."""
    return () if _has_failed_or_left(finding.node, picture, docket) else docket.report(finding)


def _has_failed_or_left(node: NodeName | None, picture: JobPicture, docket: Docket) -> bool:
    is_failed = any(
        node in (verdict.node, *verdict.members) and verdict.phase is Phase.FAILED
        for verdict in docket.open.values()
    )
    return is_failed or node in picture.departed
