"""Names the fault family of an accused machine, with a probability that means what it says."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.contract import Fault
from paramedic.diagnosis.family.coefficients import shipped_coefficients
from paramedic.diagnosis.family.likelihood import Likelihood, log_shares
from paramedic.diagnosis.family.reading import shipped_knowledge
from paramedic.diagnosis.family.symptoms import seen

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from paramedic.diagnosis.family.coefficients import Coefficients
    from paramedic.diagnosis.family.knowledge import Knowledge
    from paramedic.diagnosis.family.signature import Extent, Signature

_FARTHEST = -8.0
"""A family so many nats behind the best is as good as excluded."""
_ENOUGH = 0.5
"""A symptom that is seen so surely is something to go by."""
_LEAST = 1e-12
_OWN = {
    Fault.ECC_ERROR: ("corrected_errors", "uncorrected_errors", "told_ecc_error"),
    Fault.NVLINK_ERROR: ("nvlink_errors", "told_nvlink_error"),
}
"""What hardware counts (first), or its driver tells, of this fault and of no other."""
_OUT_OF_REACH = ("rows_missing", "segments_lost", "answers_late", "packets_dropped")
"""What is seen of a machine that can hardly be reached."""


@dataclass(frozen=True, slots=True)
class Naming:
    """The families with their probabilities, the most probable first; they add up to 1."""

    probabilities: Mapping[Fault, float]

    @property
    def fault(self) -> Fault:
        """The most probable."""
        return next(iter(self.probabilities))

    @property
    def probability(self) -> float:
        """Of the most probable."""
        return self.probabilities[self.fault]


class FamilyNamer:
    """Knowledge, and the fitted correction of it; both None: what ships."""

    def __init__(
        self, knowledge: Knowledge | None = None, coefficients: Coefficients | None = None
    ) -> None:
        self._knowledge = shipped_knowledge() if knowledge is None else knowledge
        self._coefficients = shipped_coefficients() if coefficients is None else coefficients
        self._reader = InputReader(self._knowledge)
        self._own = _own_symptoms(self._knowledge)
        self._out_of_reach = _places_of(_OUT_OF_REACH, self._knowledge)

    def name(self, signature: Signature) -> Naming:
        """What is wrong with the machine, as far as its signature tells."""
        surely = self._reader.surely(signature)
        inputs = self._reader.inputs(surely, signature.extent)
        evidence = self._reader.evidence(surely)
        logits = self._coefficients.of_inputs @ inputs + self._coefficients.constant
        known = inputs[: len(logits)]
        if self._is_reached(surely):
            logits, known = self._as_busy(logits), self._as_busy(known)
        shares = self._bounded(_shares(logits), _shares(known), surely)
        # Where nothing is seen, how often each fault happens is no finding.
        shares *= evidence
        shares[self._knowledge.faults.index(Fault.UNKNOWN)] += 1.0 - evidence
        ranked = np.argsort(-shares, kind="stable").tolist()
        return Naming({self._knowledge.faults[at]: float(shares[at]) for at in ranked})

    def _is_reached(self, surely: NDArray[np.float64]) -> bool:
        """Whether the machine is heard, and its packets arrive."""
        return bool(np.nanmax(surely[self._out_of_reach], initial=0.0) < _ENOUGH)

    def _as_busy(self, logits: NDArray[np.float64]) -> NDArray[np.float64]:
        """Nobody who is reached is out of reach: what speaks for that speaks for a busy host.

        Before machines fall silent their hosts are busy and full; so are many that never do.
        """
        faults, reached = self._knowledge.faults, logits.copy()
        if {Fault.MACHINE_UNREACHABLE, Fault.HOST_CONTENTION} <= set(faults):
            lost, busy = map(faults.index, (Fault.MACHINE_UNREACHABLE, Fault.HOST_CONTENTION))
            reached[busy] = np.logaddexp(logits[busy], logits[lost])
            reached[lost] = -np.inf
        return reached

    def _bounded(
        self, learned: NDArray[np.float64], known: NDArray[np.float64], surely: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Shares, none above what is known where the fault's own counters are there and silent.

        What is learned is how machines look that broke in one cluster; that a counter which would
        rise has not risen is known everywhere.
        """
        silent = [
            at
            for at, own in self._own.items()
            if not np.isnan(surely[own[0]]) and np.nanmax(surely[own]) < _ENOUGH
        ]
        over = [at for at in silent if learned[at] > known[at]]
        bounded = learned.copy()
        bounded[over] = 0.0
        bounded *= (1.0 - known[over].sum()) / max(bounded.sum(), _LEAST)
        bounded[over] = known[over]
        return bounded


def _own_symptoms(knowledge: Knowledge) -> dict[int, list[int]]:
    """By the place of the family, the places of what is its own."""
    return {
        knowledge.faults.index(fault): places
        for fault, own in _OWN.items()
        if fault in knowledge.faults and len(places := _places_of(own, knowledge)) == len(own)
    }


def _places_of(names: Iterable[str], knowledge: Knowledge) -> list[int]:
    """Where the symptoms of these names stand, in the order of the names."""
    places = {symptom.name: at for at, symptom in enumerate(knowledge.symptoms)}
    return [places[name] for name in names if name in places]


def _shares(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    shares: NDArray[np.float64] = np.exp(logits - np.logaddexp.reduce(logits))
    return shares


@cache
def shipped_namer() -> FamilyNamer:
    """By what ships."""
    return FamilyNamer()


class InputReader:
    """Turns signatures into the inputs of the regression."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._symptoms = knowledge.symptoms
        self._usual = np.array([symptom.usual for symptom in knowledge.symptoms])
        self._likelihood = Likelihood(knowledge)
        self._shares = log_shares(knowledge)

    def surely(self, signature: Signature) -> NDArray[np.float64]:
        """How surely each symptom is seen."""
        return seen(signature, self._symptoms)

    def evidence(self, surely: NDArray[np.float64]) -> float:
        """How surely there is anything to go by (0 to 1)."""
        return min(1.0, float(np.nanmax(surely, initial=0.0)) / _ENOUGH)

    def inputs(self, surely: NDArray[np.float64], extent: Extent) -> NDArray[np.float64]:
        """The inputs for symptoms that are seen so surely."""
        known = self._likelihood.log_scores(surely, extent) + self._shares
        scores = np.maximum(known - known.max(), _FARTHEST)
        return np.concatenate([scores, np.where(np.isnan(surely), 0.0, surely - self._usual)])
