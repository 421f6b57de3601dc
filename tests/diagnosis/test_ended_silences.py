"""What silences are usual in a job: those that were survived, and the rare long ones left out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from paramedic.diagnosis.ended_silences import EndedSilences

HOUR = 3600


def after(lengths: list[int], apart: int = 1) -> EndedSilences:
    ended = EndedSilences()
    for at, length in enumerate(lengths):
        ended.note(length, at * apart)
    return ended


@given(st.lists(st.integers(1, 500), max_size=40))
def test_the_third_longest_is_usual_in_whatever_order_they_came(lengths: list[int]) -> None:
    longest = sorted(lengths, reverse=True)
    usual = longest[2] if len(longest) >= 3 else 0
    assert after(lengths).usual_seconds(40) == usual
    assert after(lengths[::-1]).usual_seconds(40) == usual


def test_what_ends_in_one_second_counts_once() -> None:
    ended = EndedSilences()
    for length in (30, 31, 29, 30):
        ended.note(length, 5)
    assert ended.usual_seconds(6) == 0
    ended.note(4, 7)
    ended.note(5, 9)
    assert ended.usual_seconds(9) == 4


def test_what_ended_long_ago_is_forgotten_and_makes_room() -> None:
    ended = after([90] * 8)
    assert ended.usual_seconds(HOUR) == 90
    for second in range(3):
        ended.note(6, 2 * HOUR + second)
    assert ended.usual_seconds(2 * HOUR + 3) == 6
