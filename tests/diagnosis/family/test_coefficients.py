"""The fitted file belongs to the knowledge that ships, and to no other."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import pytest

from paramedic.diagnosis.family.coefficients import (
    SHIPPED,
    read_coefficients,
    shipped_coefficients,
)
from paramedic.diagnosis.family.errors import CoefficientsError
from paramedic.diagnosis.family.reading import shipped_knowledge

TEXT = SHIPPED.read_text(encoding="utf-8")
SHA256 = "dd12aeec0f8a7c9770be2c5f7ee58c3c961770ae743e0402402e5bc9ef5963a6"
"""After `python benchmarks/train_families.py` has written others: of those."""


def test_what_ships_is_what_was_fitted() -> None:
    assert hashlib.sha256(TEXT.encode()).hexdigest() == SHA256


def test_they_are_written_as_they_were_read() -> None:
    assert shipped_coefficients().to_json() == TEXT


def test_other_knowledge_wants_other_coefficients() -> None:
    other = replace(shipped_knowledge(), digest="0123456789abcdef")
    with pytest.raises(CoefficientsError, match=r"not to 0123456789abcdef.*train_families\.py"):
        read_coefficients(TEXT, "c.json", other)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"of_inputs": "x", "constant": [], "k": 1}'])
def test_what_is_no_such_file_is_refused(text: str) -> None:
    with pytest.raises(CoefficientsError, match=r"c\.json cannot be read"):
        read_coefficients(text, "c.json", shipped_knowledge())


def test_a_row_too_few_is_refused() -> None:
    fewer = replace(shipped_coefficients(), of_inputs=np.zeros((2, 3)))
    with pytest.raises(CoefficientsError, match=r"of shape \(2, 3\)"):
        read_coefficients(fewer.to_json(), "c.json", shipped_knowledge())
