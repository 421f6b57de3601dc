"""A demo that makes no sense is refused before anything is started."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from paramedic.api.demo.errors import DemoRequestError
from paramedic.api.demo.request import DemoRequest, InjectedFault
from paramedic.api.demo.script import candidates, find_script
from paramedic.api.settings.schema import Settings


def request(**changes: Any) -> DemoRequest:
    fields: dict[str, Any] = {
        "fault": "kill",
        "steps": None,
        "seconds": None,
        "rank": None,
        "seed": None,
        "script": None,
        "keep": False,
        "run_folder": None,
        "settings": Settings(),
        "folder": Path("/"),
        "environment": {},
    }
    return DemoRequest.checked(**{**fields, **changes})


def test_the_default_is_four_hundred_steps() -> None:
    assert request().steps == 400
    assert request().fault is InjectedFault.KILL


def test_a_healthy_run_by_time_asks_for_more_steps_than_it_can_do() -> None:
    assert request(fault="none", seconds=300.0).steps > 300 * 20


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seconds": 10.0}, "--fault none"),
        ({"fault": "none", "seconds": 0.0}, "--seconds 0"),
        ({"fault": "none", "seconds": float("nan")}, "--seconds nan"),
        ({"fault": "none", "seconds": float("inf")}, "--seconds inf"),
        ({"rank": 4}, "0 to 3"),
        ({"rank": -1}, "0 to 3"),
        ({"steps": 0}, "--steps 0"),
    ],
)
def test_flags_that_make_no_sense_are_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(DemoRequestError, match=words):
        request(**changes)


def test_the_example_is_found_in_a_clone_and_in_an_installation(tmp_path: Path) -> None:
    module = tmp_path / "clone" / "api" / "paramedic" / "api" / "demo" / "demo.py"
    clone, installed = candidates(module, tmp_path / "prefix")
    for place in (installed, clone):
        place.parent.mkdir(parents=True)
        place.touch()
        assert find_script(None, module, tmp_path / "prefix") == place


def test_a_script_that_was_asked_for_is_taken_or_missed_by_name(tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    with pytest.raises(DemoRequestError, match=r"mine\.py.*--script"):
        find_script(script, tmp_path / "a/b/c/d/e.py", tmp_path)
    script.touch()
    assert find_script(script, tmp_path / "a/b/c/d/e.py", tmp_path) == script
