"""The fitted part of naming: how far what was learned corrects what is known."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paramedic.diagnosis.family.errors import CoefficientsError
from paramedic.diagnosis.family.reading import shipped_knowledge
from paramedic.ingest.contract import why_not

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.diagnosis.family.knowledge import Knowledge

SHIPPED = Path(__file__).with_name("coefficients.json")
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Coefficients:
    """Of a multinomial logistic regression.

    Its inputs are the families' log scores by knowledge alone, relative to the best and bounded,
    then how surely each symptom is seen beyond what is usual; zero where it cannot be seen.
    """

    of_inputs: NDArray[np.float64]
    """(families, families + symptoms)."""
    constant: NDArray[np.float64]
    """(families,)."""
    knowledge: str
    """Digest of the knowledge that they belong to."""

    def to_json(self) -> str:
        """A file's text: the same coefficients give the same text."""
        fields = {
            "knowledge": self.knowledge,
            "constant": np.round(self.constant, _DIGITS).tolist(),
            "of_inputs": np.round(self.of_inputs, _DIGITS).tolist(),
        }
        return json.dumps(fields, separators=(",", ":")).replace("],[", "],\n[") + "\n"


@cache
def shipped_coefficients() -> Coefficients:
    """Those that ship, for the knowledge that ships."""
    return read_coefficients(SHIPPED.read_text(encoding="utf-8"), SHIPPED.name, shipped_knowledge())


def read_coefficients(text: str, origin: str, knowledge: Knowledge) -> Coefficients:
    """Read a file's text. Raises CoefficientsError when it does not belong to the knowledge."""
    try:
        fields: dict[str, Any] = json.loads(text)
        read = Coefficients(
            of_inputs=np.array(fields["of_inputs"], np.float64),
            constant=np.array(fields["constant"], np.float64),
            knowledge=str(fields["knowledge"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise CoefficientsError(
            f"coefficients: {origin} cannot be read: {why_not(error)}"
        ) from error
    families, symptoms = len(knowledge.families), len(knowledge.symptoms)
    shape = (families, families + symptoms)
    if read.knowledge != knowledge.digest or read.of_inputs.shape != shape:
        raise CoefficientsError(
            f"coefficients: {origin} belongs to knowledge {read.knowledge} of shape "
            f"{read.of_inputs.shape}, not to {knowledge.digest} of {shape}: run"
            " `python benchmarks/train_families.py`"
        )
    return read
