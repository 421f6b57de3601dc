"""One thing that was told of a GPU or a node: an event's code, or what a metric shows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from paramedic.diagnosis.contract import RecommendedAction, Severity
from paramedic.diagnosis.known_errors.entry import Cause, Concern, Kind, KnownError, KnownErrors
from paramedic.ingest.contract import EventKind, NodeName

if TYPE_CHECKING:
    from datetime import datetime

    from paramedic.ingest.contract import Event

RECOVERY_METRIC = "gpu_recovery_action"
_KINDS = {EventKind.XID: Kind.XID, EventKind.SXID: Kind.SXID}
_RECOVERY_XID = 154
_LADDER = tuple(RecommendedAction)
_TOUCHING_LEAST = (
    RecommendedAction.NONE,
    RecommendedAction.NOTIFY,
    RecommendedAction.RUN_TEST,
    RecommendedAction.RESTART_PROCESS,
    RecommendedAction.RESET_GPU,
    RecommendedAction.DRAIN_NODE,
    RecommendedAction.REBOOT_NODE,
    RecommendedAction.REPLACE_NODE,
    RecommendedAction.HAND_OVER,
)
"""Actions that known errors have, by how far they reach."""


class Place(NamedTuple):
    """Whom a report speaks of."""

    node: NodeName
    gpu: int | None
    """None for the node as a whole."""


@dataclass(frozen=True, slots=True)
class Report:
    """What was told last of one code or rule at one place."""

    place: Place
    metric: str
    """As evidence calls it: `xid`, `sxid`, or a metric id."""
    value: float
    known: KnownError | None
    """None for a code that nobody knows: it never acts."""
    severity: Severity | None
    """None: it is told beside others and never acts by itself."""
    at: datetime
    first: datetime
    is_held: bool = False
    """A state that lasts until it is seen to be over."""

    @property
    def is_telling(self) -> bool:
        """Whether it can accuse by itself."""
        return self.known is not None and self.severity is not None

    @property
    def is_drivers_word(self) -> bool:
        """Whether it is what the driver asks for, which goes before a code's own action."""
        return self.metric == RECOVERY_METRIC

    @property
    def label(self) -> str:
        """What reports at one place are told apart by; the driver has one word at a time."""
        return (
            self.metric if self.is_held or self.is_drivers_word else f"{self.metric} {self.value:g}"
        )

    @property
    def gravity(self) -> tuple[int, int, float, str]:
        """Orders reports, the gravest last, whatever order they came in."""
        severities = [None, *reversed(Severity)]
        action = RecommendedAction.NONE if self.known is None else self.known.action
        return (severities.index(self.severity), reach(action), -self.value, self.metric)

    @property
    def is_applications(self) -> bool:
        """Whether a program is to blame as a rule."""
        return self.known is not None and self.known.cause is Cause.APPLICATION


def reach(action: RecommendedAction) -> int:
    """How far an action goes, from nothing to a person's hand."""
    if action in _TOUCHING_LEAST:
        return _TOUCHING_LEAST.index(action)
    return len(_TOUCHING_LEAST) + _LADDER.index(action)


def report_of_event(event: Event, known_errors: KnownErrors) -> Report | None:
    """What an event tells; None when it tells no code, or not where.

    A code that stood already when the GPU was first seen never acts: nobody knows how old it is.
    """
    kind = _KINDS.get(event.kind)
    code = None if kind is None else event.details.get(kind.value)
    if kind is None or event.node is None or not isinstance(code, int) or isinstance(code, bool):
        return None
    asked = event.details.get("recovery_action") if code == _RECOVERY_XID else None
    if isinstance(asked, int) and kind is Kind.XID:
        place = Place(event.node, event.gpu)
        return report_of_recovery(place, asked, event.timestamp, known_errors)
    place, word = Place(event.node, event.gpu), event.details.get("severity")
    told = report_of_code(kind, place, code, event.timestamp, known_errors, word)
    return replace(told, severity=None) if event.details.get("sticky") is True else told


def report_of_code(
    kind: Kind,
    place: Place,
    code: int,
    at: datetime,
    known_errors: KnownErrors,
    word: object = None,
) -> Report:
    """What a code tells that is new; `word` is what the driver's own line calls it."""
    known = known_errors.find(kind, code)
    concerns_node = known is not None and known.concerns is Concern.NODE
    severity = None if known is None else known.severity_for(word)
    whose = Place(place.node, None) if concerns_node else place
    return Report(whose, kind.value, float(code), known, severity, at, at)


def report_of_recovery(
    place: Place, asked: int, at: datetime, known_errors: KnownErrors, *, is_held: bool = False
) -> Report:
    """What the driver asks for."""
    known = known_errors.find(Kind.RECOVERY_ACTION, asked)
    severity = None if known is None else known.severity
    return Report(place, RECOVERY_METRIC, float(asked), known, severity, at, at, is_held)


def report_of_metric(
    place: Place, rule: KnownError, value: float, at: datetime, *, is_held: bool
) -> Report:
    """What a state or a counter tells."""
    return Report(place, rule.metric or rule.key, value, rule, rule.severity, at, at, is_held)
