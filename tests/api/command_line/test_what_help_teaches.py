"""What help and docs/command-line.md teach is what the command line takes."""

from __future__ import annotations

import argparse
import io
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.api.command_line.dispatch import FORESEEN, dispatch, read_call
from paramedic.api.command_line.errors import UsageError
from paramedic.api.command_line.parser import VERBS, build_parser
from paramedic.api.command_line.surroundings import Surroundings
from paramedic.api.command_line.verbs import Call
from paramedic.api.settings.schema import known_settings

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "command-line.md").read_text(encoding="utf-8")
SETTINGS_PAGE = (DOCS / "settings.md").read_text(encoding="utf-8")
FLAG = re.compile(r"--[a-z][a-z0-9-]*")
PARSER = build_parser()
SAMPLES = {
    "job.ranks": "2", "job.spares": "3", "bus.address": "kafka://h:1", "api.host": "::1",
    "api.port": "0", "collect.job_labels": "a", "collect.role_labels": "rack=r",
    "models.registry_folder": "kept",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _keep_the_exception_hook() -> Iterator[None]:
    before = sys.excepthook
    yield
    sys.excepthook = before


def around(folder: Path) -> Surroundings:
    return Surroundings(folder, {}, io.StringIO(), io.StringIO())


def flags_of(verb: str) -> set[str]:
    """Every flag that a verb's parser knows."""
    (verbs,) = [
        action for action in PARSER._actions if isinstance(action, argparse._SubParsersAction)
    ]
    return {flag for action in verbs.choices[verb]._actions for flag in action.option_strings}


def examples() -> list[str]:
    """The commands of all teachings, as somebody would type them."""
    lines = [
        line
        for verb in VERBS.values()
        for line in verb.teaching.replace("\\\n", " ").splitlines()
        if line.startswith("  ") and "paramedic " in line
    ]
    typed = [re.sub(r"^\s+(.*\| )?paramedic ", "", line) for line in lines]
    return [re.split(r"\s{3,}(?=[a-zA-Z])", line)[0] for line in typed if "`" not in line]


@pytest.mark.parametrize("example", examples())
def test_an_example_can_be_typed_as_it_stands(tmp_path: Path, example: str) -> None:
    verb, _call = read_call(shlex.split(example), around(tmp_path))
    assert verb.name == example.split(maxsplit=1)[0]


def test_every_verb_has_an_example() -> None:
    assert {example.split()[0] for example in examples()} == set(VERBS)


def usages() -> list[tuple[str, str]]:
    """Verb and usage of the page's blocks."""
    blocks = re.findall(r"^```\n(paramedic .*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    return [(block.split()[1], block) for block in blocks]


@pytest.mark.parametrize(("verb", "usage"), usages(), ids=lambda one: one.split()[0])
def test_every_flag_that_the_page_shows_exists(verb: str, usage: str) -> None:
    assert set(FLAG.findall(usage)) - flags_of(verb) == set()


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_takes_any_setting_a_file_and_debug(verb: str) -> None:
    assert {"--set", "--config", "--debug", "--help"} <= flags_of(verb)


@pytest.mark.parametrize("verb", VERBS)
def test_a_flag_that_is_none_or_half_of_one_points_to_the_verbs_own_help(
    tmp_path: Path, verb: str
) -> None:
    for flag in ("--bogus", "--confi"):
        with pytest.raises(UsageError) as refused:
            read_call([verb, flag, "x"], around(tmp_path))
        assert f"paramedic {verb} --help" in str(refused.value)


@pytest.mark.parametrize(
    ("verb", "flag", "key"),
    [(verb.name, flag, key) for verb in VERBS.values() for flag, key in verb.setting_flags.items()],
)
def test_a_flag_of_a_setting_sets_it_and_help_says_what_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], verb: str, flag: str, key: str
) -> None:
    needed = {
        "remediate": ["--run-folder", "r", "--observe"],
        "serve": ["--run-folder", "r"],
        "capture": ["--out", "o"],
        "run": ["--bare"],
        "models": ["list"],
        "maintenance": ["list"],
    }.get(verb, [])
    _verb, call = read_call([verb, *needed, flag, SAMPLES[key]], around(tmp_path))
    section, _, name = key.partition(".")
    assert str(getattr(getattr(call.settings, section), name)) == SAMPLES[key]
    with pytest.raises(SystemExit):
        PARSER.parse_args([verb, "--help"])
    shown = "".join(capsys.readouterr().out.split())  # long defaults are broken into lines
    assert f"(default:{known_settings()[key].default})" in shown


def test_the_page_of_settings_names_the_flags_of_settings() -> None:
    sentence = SETTINGS_PAGE.partition("Some settings have a flag of their own: ")[2]
    sentence = sentence.partition("\n")[0]
    told = dict(re.findall(r"`(--[a-z-]+)` is `([a-z_.]+)`", sentence))
    assert told == {
        flag: key for verb in VERBS.values() for flag, key in verb.setting_flags.items()
    }


def test_only_run_takes_a_command_and_says_so_in_its_usage(tmp_path: Path) -> None:
    assert [verb.name for verb in VERBS.values() if verb.takes_command] == ["run"]
    for verb in set(VERBS) - {"run"}:
        with pytest.raises(UsageError):
            read_call([verb, "--", "x"], around(tmp_path))


def test_a_refusal_is_one_line_whatever_was_typed(tmp_path: Path) -> None:
    for arguments in (
        ["serve", "--run-folder", "a\nb"],
        ["run", "--config", "a\n\nb", "--", "x"],
        ["run", "--bare", "--job", "a\r\nb", "--", "true"],
        ["decode", "no\nwhere"],
    ):
        surroundings = around(tmp_path)
        assert dispatch([*arguments[:1], "--debug", *arguments[1:]], surroundings) == 2
        said = surroundings.stderr.getvalue()  # type: ignore[attr-defined]  # it is a StringIO
        assert said.startswith("paramedic: ")
        assert said.count("\n") == 1


WORDS = st.sampled_from(["", "x", "0", "-1", "nan", "a=b", "api.port=1", "/", "--", "-", "none"])


@pytest.mark.long
@given(st.data())
def test_whatever_is_typed_is_a_call_or_a_refusal(data: st.DataObject) -> None:
    verb = data.draw(st.sampled_from(list(VERBS)))
    known = sorted(flags_of(verb) - {"--help", "-h"})
    typed = data.draw(st.lists(st.sampled_from(known) | WORDS, max_size=6))
    found = call_or_refusal([verb, *typed, "--debug"])
    if isinstance(found, Call):
        assert found.flags.verb == verb
    else:
        assert str(found).strip()


def call_or_refusal(arguments: list[str]) -> Call | Exception:
    try:
        return read_call(arguments, around(Path("/")))[1]
    except FORESEEN as refusal:
        return refusal
