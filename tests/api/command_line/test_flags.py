"""Flags read what people type, refuse what makes no sense, and fill requests by name."""

from __future__ import annotations

import math
from argparse import ArgumentTypeError
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.api.command_line.errors import UsageError
from paramedic.api.command_line.flags import (
    chosen,
    filled,
    path,
    port,
    positive,
    repeated,
    switch,
    valued,
)
from paramedic.api.command_line.parser import TeachingParser


@dataclass(frozen=True)
class Wish:
    """A request for the tests."""

    out: Path | None
    seconds: float
    tags: list[str]
    kind: str
    loud: bool
    where: str = "here"


def parser() -> TeachingParser:
    made = TeachingParser(prog="paramedic wish")
    valued(made, "--out", "FOLDER", "where", path)
    valued(made, "--seconds", "N", "how long", positive, math.inf)
    repeated(made, "--tag", "NAME", "a word", dest="tags")
    chosen(made, "--kind", ("table", "json"), "which")
    switch(made, "--loud", "shout")
    return made


def wish(*flags: str) -> Wish:
    return filled(Wish, parser().parse_args(flags), where="there")


def test_a_request_takes_the_flags_of_its_fields_names_and_what_is_given() -> None:
    assert wish("--out", "a/b", "--seconds", "2.5", "--tag", "x", "--kind", "json", "--loud") == (
        Wish(Path("a/b"), 2.5, ["x"], "json", loud=True, where="there")
    )


def test_without_flags_the_first_choice_and_the_defaults_hold() -> None:
    assert wish() == Wish(None, math.inf, [], "table", loud=False, where="there")


def test_what_may_come_several_times_is_kept_in_order_and_forgotten_by_the_next_call() -> None:
    assert wish("--tag", "b", "--tag", "a").tags == ["b", "a"]
    assert wish("--tag", "c").tags == ["c"]
    assert "may be repeated" in parser().format_help()


def test_a_field_that_is_no_flag_and_is_not_given_is_a_mistake_of_ours() -> None:
    with pytest.raises(AttributeError, match="where"):
        filled(Wish, parser().parse_args([]))


def test_what_is_given_outranks_the_flag() -> None:
    flags = parser().parse_args(["--kind", "json"])
    assert filled(Wish, flags, kind="another", where="w").kind == "another"


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--kind", "xml"), "argument --kind: invalid choice: 'xml'"),
        (("--seconds", "0"), "argument --seconds: '0' is no number above 0"),
        (("--out", "  "), "argument --out: the path is empty: name one or leave the flag out"),
        (("--out",), "argument --out: expected one argument"),
        (("--loud", "very"), "unrecognized arguments: very"),
        (("--sec", "3"), "unrecognized arguments: --sec 3"),
    ],
)
def test_a_refusal_names_flag_value_and_where_help_is(flags: tuple[str, ...], words: str) -> None:
    made = parser()
    made.allow_abbrev = False
    with pytest.raises(UsageError) as refused:
        made.parse_args(flags)
    assert str(refused.value).startswith(words)
    assert str(refused.value).endswith("(see paramedic wish --help)")


@given(st.floats(min_value=1e-300, max_value=1e300))
def test_every_number_above_0_is_taken_as_it_is(number: float) -> None:
    assert positive(repr(number)) == number


@given(st.floats(max_value=0.0) | st.just(math.inf) | st.just(math.nan))
def test_no_other_number_is(number: float) -> None:
    with pytest.raises(ArgumentTypeError, match="is no number above 0"):
        positive(repr(number))


@given(st.text(max_size=6))
def test_a_path_is_empty_or_what_was_typed(text: str) -> None:
    if text.strip():
        assert path(text) == Path(text)
    else:
        with pytest.raises(ArgumentTypeError):
            path(text)


@given(st.integers(-100_000, 200_000))
def test_a_port_is_a_number_from_0_to_65535(number: int) -> None:
    if 0 <= number <= 65535:
        assert port(str(number)) == number
    else:
        with pytest.raises(ArgumentTypeError, match=f"'{number}' is no port: give a number from 0"):
            port(str(number))
