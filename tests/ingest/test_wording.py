"""Numbers with their nouns."""

from __future__ import annotations

import pytest

from paramedic.ingest.wording import counted


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 hits"), (1, "1 hit"), (1.0, "1.0 hit"), (2, "2 hits")]
)
def test_one_is_no_plural(number: float, words: str) -> None:
    assert counted(number, "hit") == words


def test_a_plural_of_its_own_is_used() -> None:
    assert [counted(n, "miss", "misses") for n in (1, 2)] == ["1 miss", "2 misses"]
