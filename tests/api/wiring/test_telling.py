"""A reader that leaves never changes how a run ends."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from paramedic.api.wiring.errors import OutputError
from paramedic.api.wiring.telling import say, tell, tell_lines


def test_what_is_told_arrives() -> None:
    out = io.StringIO()
    tell(out, "paramedic: ready\n")
    assert out.getvalue() == "paramedic: ready\n"


def test_lines_of_ours_are_told_from_the_jobs() -> None:
    out = io.StringIO()
    say(out, "ready", "go")
    assert out.getvalue() == "paramedic: ready\nparamedic: go\n"


def test_whatever_name_a_line_quotes_it_is_one_line_and_steers_no_terminal() -> None:
    out = io.StringIO()
    say(out, "no telemetry of \x1b[2J\x07evil\nparamedic: all is well")
    tell_lines(out, ["13 % more, 2 × as fast — 40 °C", "right\u202eleft"])
    assert out.getvalue().splitlines() == [
        r"paramedic: no telemetry of \x1b[2J\x07evil\nparamedic: all is well",
        "13 % more, 2 × as fast — 40 °C",
        r"right\u202eleft",
    ]


def test_a_reader_that_has_left_is_no_reason_to_fail() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w", encoding="utf-8") as out:
        tell(out, "first\n")
        tell(out, "second\n")


def test_a_full_disk_is_told_and_leaves_nothing_to_fail_over_later() -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as out:
        with pytest.raises(OutputError, match=r"^the output cannot be written \(No space left on"):
            tell(out, "first\n")
        tell(out, "second\n")
