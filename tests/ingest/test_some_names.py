"""Lines that name a few of many say how many they leave out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from paramedic.ingest.some_names import some_names


@given(st.lists(st.text("abc", min_size=1), max_size=12), st.integers(1, 9))
def test_what_is_shown_and_what_is_left_out_make_the_whole(names: list[str], shown: int) -> None:
    text, _, left_out = some_names(names, shown).partition(" and ")
    told = [] if not text else text.split(", ")
    assert told == names[:shown]
    assert len(told) + int(left_out.removesuffix(" more") or 0) == len(names)
