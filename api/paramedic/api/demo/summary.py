"""What the demo found, computed from what was observed (formats, section 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from paramedic.api.demo.observations import Injection, Observed
from paramedic.api.demo.request import InjectedFault
from paramedic.api.wiring.narration import is_training
from paramedic.api.wiring.wording import counted
from paramedic.diagnosis.contract import Status, Verdict
from paramedic.ingest.contract import Event

_BIT_FOR_BIT = (InjectedFault.KILL, InjectedFault.FREEZE)


@dataclass(frozen=True, slots=True)
class Ending:
    """How the watched run ended, as found outside the bus."""

    exit_code: int
    steps_done: int
    """How many steps, counted from 0 without a gap, every rank's losses cover."""
    goodput: float | None
    loss_curve_identical: bool | None
    """None where there is nothing to compare with."""
    curve_difference: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """The demo's result; the fields and their order are those of formats, section 5."""

    fault: str
    rank_hit: int | None
    rank_named: int | None
    seconds_to_detect: float | None
    seconds_to_localise: float | None
    seconds_to_recover: float | None
    steps_lost: int | None
    goodput: float | None
    loss_curve_identical: bool | None
    steps: int
    wrong_verdicts: int

    def to_dict(self) -> dict[str, object]:
        """The summary as plain JSON values."""
        return asdict(self)


def summarise(
    fault: InjectedFault,
    steps: int,
    injection: Injection | None,
    observed: Sequence[Observed],
    ranks_of_nodes: Mapping[str, int],
    ending: Ending,
) -> Summary:
    """The summary of one demo; `ranks_of_nodes` is who carried which rank at the injection."""
    firings = _first_firings(observed)
    after = _after(firings, injection)
    recovery = _recovery(observed, injection)
    return Summary(
        fault=fault.value,
        rank_hit=None if injection is None else injection.rank,
        rank_named=_rank_named(after, ranks_of_nodes),
        seconds_to_detect=_since(injection, after[0] if after else None),
        seconds_to_localise=_since(injection, _first_right(after, injection)),
        seconds_to_recover=_since(injection, recovery),
        steps_lost=_steps_lost(observed, injection) if recovery is not None else None,
        goodput=None if ending.goodput is None else round(ending.goodput, 4),
        loss_curve_identical=ending.loss_curve_identical,
        steps=steps,
        wrong_verdicts=sum(not _is_right(one, injection) for one in firings),
    )


def broken_promises(summary: Summary, ending: Ending) -> tuple[str, ...]:
    """Why the demo failed, one reason a line; empty when everything held."""
    fault = InjectedFault(summary.fault)
    reasons = [] if fault is InjectedFault.NONE else list(_naming_reasons(summary))
    if summary.wrong_verdicts:
        verdicts = counted(summary.wrong_verdicts, "verdict")
        reasons.append(f"{verdicts} named somebody who was not hit")
    if ending.exit_code != 0:
        reasons.append(f"the training ended with exit code {ending.exit_code}")
    if fault is not InjectedFault.NONE and ending.steps_done < summary.steps:
        reasons.append(f"only {ending.steps_done} of {counted(summary.steps, 'step')} done")
    if fault in _BIT_FOR_BIT and not summary.loss_curve_identical:
        reasons.append(f"the loss curve differs from the undisturbed run: {_why(ending)}")
    return tuple(reasons)


def _why(ending: Ending) -> str:
    return ending.curve_difference or "there is nothing to compare with"


def _naming_reasons(summary: Summary) -> tuple[str, ...]:
    if summary.rank_named == summary.rank_hit:
        return ()
    if summary.seconds_to_detect is None:
        return (f"rank {summary.rank_hit} was hit and no verdict came",)
    return (f"rank {summary.rank_hit} was hit, and rank {summary.rank_named} was named",)


@dataclass(frozen=True, slots=True)
class _Firing:
    at_seconds: float
    verdict: Verdict


def _first_firings(observed: Sequence[Observed]) -> list[_Firing]:
    """Each verdict's first firing, in order of arrival."""
    first: dict[str, _Firing] = {}
    for one in observed:
        if isinstance(one.said, Verdict) and one.said.status is Status.FIRING:
            first.setdefault(one.said.id, _Firing(one.at_seconds, one.said))
    return list(first.values())


def _after(firings: Sequence[_Firing], injection: Injection | None) -> list[_Firing]:
    if injection is None:
        return []
    return [one for one in firings if one.at_seconds >= injection.at_seconds]


def _is_right(firing: _Firing, injection: Injection | None) -> bool:
    return (
        injection is not None
        and firing.at_seconds >= injection.at_seconds
        and firing.verdict.node == injection.node
    )


def _first_right(after: Sequence[_Firing], injection: Injection | None) -> _Firing | None:
    return next((one for one in after if _is_right(one, injection)), None)


def _rank_named(after: Sequence[_Firing], ranks_of_nodes: Mapping[str, int]) -> int | None:
    """The rank of the node that the first verdict after the injection names."""
    if not after or after[0].verdict.node is None:
        return None
    return ranks_of_nodes.get(after[0].verdict.node)


def _recovery(observed: Sequence[Observed], injection: Injection | None) -> Observed | None:
    """The first word that the job trains in a newer generation than the one that was hit."""
    if injection is None:
        return None
    return next(
        (
            one
            for one in observed
            if one.at_seconds >= injection.at_seconds
            and isinstance(one.said, Event)
            and is_training(one.said)
            and (one.said.generation or 0) > injection.generation
        ),
        None,
    )


def _steps_lost(observed: Sequence[Observed], injection: Injection | None) -> int:
    """Steps that had to be done again, over every recovery since the injection."""
    if injection is None:
        return 0
    lost = (
        one.said.details.get("steps_lost", 0)
        for one in observed
        if one.at_seconds >= injection.at_seconds
        and isinstance(one.said, Event)
        and is_training(one.said)
    )
    return sum(int(steps) for steps in lost if isinstance(steps, int | float))


def _since(injection: Injection | None, later: _Firing | Observed | None) -> float | None:
    if injection is None or later is None:
        return None
    return round(later.at_seconds - injection.at_seconds, 2)
