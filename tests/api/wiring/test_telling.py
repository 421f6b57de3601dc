"""A reader that leaves never changes how a run ends."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from paramedic.api.wiring.errors import OutputError
from paramedic.api.wiring.telling import say, tell


def test_what_is_told_arrives() -> None:
    out = io.StringIO()
    tell(out, "paramedic: ready\n")
    assert out.getvalue() == "paramedic: ready\n"


def test_lines_of_ours_are_told_from_the_jobs() -> None:
    out = io.StringIO()
    say(out, "ready", "go")
    assert out.getvalue() == "paramedic: ready\nparamedic: go\n"


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
