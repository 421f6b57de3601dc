"""Fits the correction of what is known of fault families."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from benchmarks.families.cases import AFTER_SECONDS, Case
from numpy.typing import NDArray

from paramedic.diagnosis.family.coefficients import Coefficients
from paramedic.diagnosis.family.knowledge import Knowledge
from paramedic.diagnosis.family.likelihood import log_shares, looks_of
from paramedic.diagnosis.family.naming import InputReader

Floats = NDArray[np.float64]
DRAWS = 2000
DRAWS_WEIGHT = 4.0
"""What is known counts as much as so many times what was seen."""
LEAST_WEIGHT = 100.0
SHRINKAGE = 0.5
"""How far the fit is drawn to what is known alone: between both in logarithms. Chosen on the
validation split and on knowledge's own results on physics that the fit has not seen."""
STRENGTH = 3.0
"""The regression's C: how freely it may leave zero. Chosen on the validation split."""
SHARES_POWER = 0.7
"""How unlike families are: 1 as the paper counts them, 0 all alike."""


@dataclass(frozen=True, slots=True)
class Lessons:
    """What the regression learns from."""

    inputs: Floats
    families: NDArray[np.intp]
    weights: Floats


def lessons_of(cases: Sequence[Case], knowledge: Knowledge) -> Lessons:
    """Signatures; every episode counts once, however often it is looked at."""
    reader = InputReader(knowledge)
    return Lessons(
        np.array(
            [reader.inputs(reader.surely(case.signature), case.signature.extent) for case in cases]
        ),
        np.array([knowledge.faults.index(case.fault) for case in cases]),
        np.full(len(cases), 1.0 / len(AFTER_SECONDS)),
    )


def drawn_lessons(knowledge: Knowledge, rng: np.random.Generator) -> Lessons:
    """Machines as families.toml says that they look, some metrics of each not observed."""
    reader, shares = InputReader(knowledge), np.exp(log_shares(knowledge, SHARES_POWER))
    families = rng.choice(len(shares), DRAWS, p=shares)
    looks = [looks_of(family, knowledge) for family in knowledge.families]
    can_be_hidden = np.array([bool(one.metrics) for one in knowledge.symptoms])
    inputs = []
    for at in families.tolist():
        chances = looks[at].shown[int(rng.choice(len(looks[at].weights), p=looks[at].weights))]
        surely = _drawn(chances, can_be_hidden, rng)
        extents = knowledge.families[at].extents
        extent = list(extents)[int(rng.choice(len(extents), p=list(extents.values())))]
        inputs.append(reader.inputs(surely, extent))
    return Lessons(np.array(inputs), families, np.ones(DRAWS))


def _drawn(chances: Floats, can_be_hidden: NDArray[np.bool_], rng: np.random.Generator) -> Floats:
    """How surely each symptom is seen at one machine; those of metrics nobody exports, NaN."""
    number = len(chances)
    is_shown = rng.random(number) < chances
    doubt = rng.beta(1, 20, number)
    surely = np.where(is_shown, 1.0 - doubt, doubt)
    is_hidden = can_be_hidden & (rng.random(number) < rng.choice([0.0, 0.1, 0.4]))
    surely[is_hidden & ~is_shown] = np.nan
    return surely


def fitted(parts: Sequence[Lessons], knowledge: Knowledge) -> Coefficients:
    """The regression; families that nobody has an example of keep what knowledge says."""
    from sklearn.linear_model import LogisticRegression

    inputs = np.concatenate([part.inputs for part in parts])
    families = np.concatenate([part.families for part in parts])
    weights = np.concatenate([part.weights for part in parts])
    model = LogisticRegression(C=STRENGTH, max_iter=400, tol=1e-4)
    model.fit(inputs, families, sample_weight=weights)
    if len(model.classes_) != len(knowledge.families):
        raise SystemExit(f"only {len(model.classes_)} families drawn: draw more than {DRAWS}")
    alone = np.eye(len(knowledge.families), inputs.shape[1])
    of_inputs = SHRINKAGE * alone + (1.0 - SHRINKAGE) * model.coef_
    return Coefficients(of_inputs, (1.0 - SHRINKAGE) * model.intercept_, knowledge.digest)


def fitted_to(cases: Sequence[Case], knowledge: Knowledge, seed: int) -> Coefficients:
    """Fitted to cases, and to what is known as strongly as to so many of them."""
    drawn = drawn_lessons(knowledge, np.random.default_rng(seed))
    learned = lessons_of(cases, knowledge)
    seen_weight = max(float(learned.weights.sum()), LEAST_WEIGHT)
    weights = drawn.weights * (DRAWS_WEIGHT * seen_weight / DRAWS)
    # Families that the training split does not have are learned from what is known alone, or the
    # fit would take them for rarer than they are.
    for family in set(drawn.families.tolist()) - set(learned.families.tolist()):
        of_it = drawn.families == family
        weights[of_it] += knowledge.families[family].share * seen_weight / of_it.sum()
    return fitted([learned, replace(drawn, weights=weights)], knowledge)
