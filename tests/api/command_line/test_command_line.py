"""Arguments become a checked call, and every mistake one line with exit code 2."""

from __future__ import annotations

import argparse
import io
import signal
import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.api.command_line import extras
from paramedic.api.command_line.dispatch import dispatch, read_call
from paramedic.api.command_line.errors import MissingExtraError, UsageError
from paramedic.api.command_line.parser import VERBS, build_parser, split_command, verbs_asked_for
from paramedic.api.command_line.surroundings import Surroundings

PAGE = Path(__file__).parents[3] / "docs" / "command-line.md"


def around(folder: Path, environment: Mapping[str, str] | None = None) -> Surroundings:
    return Surroundings(folder, environment or {}, io.StringIO(), io.StringIO())


@pytest.fixture(autouse=True)
def _keep_the_exception_hook() -> object:
    before = sys.excepthook
    yield
    sys.excepthook = before


def test_flags_of_run_become_settings_and_the_command_stays_whole(tmp_path: Path) -> None:
    verb, call = read_call(
        ["run", "--nproc", "2", "--spares", "0", "--bare", "--", "python", "t.py", "--steps", "9"],
        around(tmp_path),
    )
    assert verb.name == "run"
    assert (call.settings.job.ranks, call.settings.job.spares) == (2, 0)
    assert call.command == ("python", "t.py", "--steps", "9")
    assert call.flags.bare


def test_a_flag_outranks_an_assignment_and_both_the_environment(tmp_path: Path) -> None:
    _verb, call = read_call(
        ["run", "--bare", "--set", "api.port=2", "--set", "job.ranks=2", "--port", "3", "--", "x"],
        around(tmp_path, {"PARAMEDIC_API_PORT": "1", "PARAMEDIC_JOB_RANKS": "9"}),
    )
    assert (call.settings.api.port, call.settings.job.ranks) == (3, 2)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "VERB"),
        (["runn"], "runn"),
        (["run", "--nproc", "many", "--", "x"], "--nproc: job.ranks = 'many'"),
        (["run", "--nproc", "0", "--", "x"], "--nproc: job.ranks = 0"),
        (["run", "--bogus", "--", "x"], "--bogus (see paramedic run --help)"),
        (["demo", "sideways"], "sideways (see paramedic demo --help)"),
        (["run", "--run-folder", "", "--", "x"], "--run-folder: the path is empty"),
        (["serve", "--run-folder", " "], "--run-folder: the path is empty"),
        (["run", "--config", "", "--", "x"], "--config: the path is empty"),
        (["run", "--host", "0.0.0.0", "--", "x"], "keys"),
        (["run", "--bare"], "after --"),
        (["run", "--bare", "--"], "after --"),
        (["run", "--bare", "--", ""], "after --"),
        (["run", "python", "x.py"], "python"),
        (["demo", "--fault", "fire"], "fire"),
        (["demo", "--", "x"], "takes no command"),
        (["remediate"], "--run-folder"),
        (["diagnose"], "kafka://HOST:PORT"),
        (["run", "--set", "api.prot=1", "--", "x"], "did you mean api.port"),
        (["run", "--config", "/nonexistent/p.toml", "--", "x"], "/nonexistent/p.toml"),
    ],
)
def test_a_mistake_is_one_line_on_standard_error_and_exit_code_two(
    tmp_path: Path, arguments: list[str], words: str
) -> None:
    surroundings = around(tmp_path)
    assert dispatch(arguments, surroundings) == 2
    errors, output = surroundings.stderr, surroundings.stdout
    assert isinstance(errors, io.StringIO)
    assert isinstance(output, io.StringIO)
    assert errors.getvalue().count("\n") == 1
    assert words in errors.getvalue()
    assert output.getvalue() == ""


def test_a_missing_extra_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingExtraError, match=r"pip install 'paramedic\[platform\]'"):
        extras.require("run", extras.RUN, "platform", installed=lambda name: name != "uvicorn")
    extras.require("run", extras.RUN, "platform", installed=lambda _name: True)


def test_a_bare_run_needs_no_extra(tmp_path: Path) -> None:
    verb, call = read_call(["run", "--bare", "--", "x"], around(tmp_path))
    assert tuple(verb.packages(call.flags, call.settings)) == ()


def test_kafka_is_needed_only_where_the_bus_is_kafka(tmp_path: Path) -> None:
    verb = VERBS["run"]
    for bus, needed in (("embedded", False), ("kafka", True), ("kafka://h:1", True)):
        _verb, call = read_call(["run", "--bus", bus, "--", "x"], around(tmp_path))
        assert ("kafka" in verb.packages(call.flags, call.settings)) is needed


def test_every_verb_teaches_examples_exit_codes_and_defaults() -> None:
    for verb in VERBS.values():
        assert f"paramedic {verb.name}" in verb.teaching
        assert "exit codes:" in verb.teaching


def test_every_verb_is_documented() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [verb for verb in VERBS if f"| `{verb}` |" not in page] == []


def test_the_version_is_the_installed_one(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        build_parser().parse_args(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"paramedic {version('paramedic')}\n"


def test_help_names_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        build_parser().parse_args(["--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert [verb for verb in VERBS if verb not in shown] == []


@given(
    before=st.lists(st.text(max_size=5).filter(lambda word: word != "--"), max_size=5),
    command=st.lists(st.text(max_size=5), max_size=5),
)
def test_what_stands_after_the_dashes_is_never_touched(
    before: list[str], command: list[str]
) -> None:
    assert split_command([*before, "--", *command]) == (before, tuple(command))
    assert split_command(before) == (before, None)


def test_a_verb_by_itself_helps_as_it_does_among_all() -> None:
    alone = [help_of(build_parser(verbs_asked_for([name, "--help"]))) for name in VERBS]
    assert [list(one) for one in alone] == [[name] for name in VERBS]
    assert {name: text for one in alone for name, text in one.items()} == help_of(build_parser())


@pytest.mark.parametrize(
    "common", [["--debug"], ["--set", "job.ranks=3"], ["--set=job.ranks=3", "--config", "p.toml"]]
)
def test_flags_that_every_verb_has_may_stand_before_it(tmp_path: Path, common: list[str]) -> None:
    (tmp_path / "p.toml").write_text("")
    common = [str(tmp_path / one) if one == "p.toml" else one for one in common]
    own = ["--bare", "--", "x", "--debug"]
    _verb, before = read_call([*common, "run", *own], around(tmp_path))
    _verb, behind = read_call(["run", *common, *own], around(tmp_path))
    assert (before.flags, before.settings) == (behind.flags, behind.settings)
    assert before.command == ("x", "--debug")


@pytest.mark.parametrize("arguments", [["--debug"], ["--set"], ["--config", "x"]])
def test_common_flags_without_a_verb_are_no_call(tmp_path: Path, arguments: list[str]) -> None:
    with pytest.raises(UsageError, match="VERB"):
        read_call(arguments, around(tmp_path))


@pytest.mark.parametrize("arguments", [[], ["--help"], ["--version", "run"], ["unknown", "run"]])
def test_who_names_no_verb_first_is_told_of_all(arguments: list[str]) -> None:
    assert list(verbs_asked_for(arguments)) == list(VERBS.values())


def help_of(parser: argparse.ArgumentParser) -> dict[str, str]:
    """That of each verb."""
    (verbs,) = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
    return {name: one.format_help() for name, one in verbs.choices.items()}


def test_an_abbreviated_flag_is_refused() -> None:
    with pytest.raises(UsageError):
        build_parser().parse_args(["run", "--npro", "3"])


WHILE_IMPORTING = """
class Trap:
    def find_spec(self, name, path=None, target=None):
        if name == "argparse":
            try:
                arrive()
            except BaseException:
                pass  # as some libraries do when they look for what they can do without
sys.meta_path.insert(0, Trap())
"""
WHILE_WORKING = """
def dispatch(arguments):
    arrive()
sys.modules["paramedic.api.command_line.dispatch"] = SimpleNamespace(dispatch=dispatch)
"""
# Python up to 3.11 makes a RuntimeError of what is raised in there.
WHILE_A_CLASS_IS_MADE = """
class Field:
    def __set_name__(self, owner, name):
        arrive()
def dispatch(arguments):
    class Settings:
        field = Field()
sys.modules["paramedic.api.command_line.dispatch"] = SimpleNamespace(dispatch=dispatch)
"""


@pytest.mark.parametrize("moment", [WHILE_IMPORTING, WHILE_WORKING, WHILE_A_CLASS_IS_MADE])
@pytest.mark.parametrize(
    ("number", "code", "words"),
    [
        (signal.SIGINT, 130, "interrupted"),
        (signal.SIGTERM, 143, "ended by a signal"),
        (signal.SIGHUP, 143, "ended by a signal"),
    ],
)
def test_a_signal_at_any_moment_is_one_line(
    number: signal.Signals, code: int, words: str, moment: str
) -> None:
    done = run_main(number, moment)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", f"paramedic: {words}\n")


def test_a_signal_that_was_ignored_before_stays_ignored() -> None:
    done = run_main(signal.SIGHUP, f"signal.signal(signal.SIGHUP, signal.SIG_IGN){WHILE_WORKING}")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_runtime_error_of_another_cause_is_not_taken_for_an_interrupt() -> None:
    broken = WHILE_WORKING.replace("arrive()", "raise RuntimeError('a bug')")
    done = run_main(signal.SIGINT, broken)
    assert done.returncode == 1
    assert "RuntimeError: a bug" in done.stderr


def run_main(number: signal.Signals, moment: str) -> subprocess.CompletedProcess[str]:
    """The entry point in a process of its own, to which a signal comes at the moment set up."""
    script = (
        "import os, signal, sys\n"
        "from types import SimpleNamespace\n"
        "from paramedic.api.command_line import main as entry\n"
        f"def arrive():\n    os.kill(os.getpid(), {int(number)})\n"
        f"{moment}\n"
        "sys.exit(entry.main(['--help']))\n"
    )
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )


def test_a_current_folder_that_was_removed_is_one_line(tmp_path: Path) -> None:
    script = (
        "import os, sys\n"
        "from paramedic.api.command_line.dispatch import dispatch\n"
        "os.rmdir(os.getcwd())\n"
        "sys.exit(dispatch(['run', '--bare', '--', 'x']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip
    said = "paramedic: the current folder has been removed: cd to one that exists\n"
    assert (done.returncode, done.stderr) == (2, said)


@pytest.mark.long
def test_an_unforeseen_error_is_one_line_without_debug_and_a_traceback_with_it() -> None:
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from paramedic.api.command_line.dispatch import read_call\n"
        "from paramedic.api.command_line.surroundings import Surroundings\n"
        "arguments = ['run', '--bare', *sys.argv[1:], '--', 'x']\n"
        "read_call(arguments, Surroundings(Path('/'), {}, sys.stdout, sys.stderr))\n"
        "raise RuntimeError('a bug')\n"
    )
    run = [sys.executable, "-c", script]
    plain = subprocess.run(run, capture_output=True, text=True, timeout=60, check=False)
    debug = subprocess.run(
        [*run, "--debug"], capture_output=True, text=True, timeout=60, check=False
    )
    assert plain.returncode == 1
    assert plain.stderr.startswith("paramedic: unexpected RuntimeError: a bug")
    assert plain.stderr.count("\n") == 1
    assert "Traceback" in debug.stderr


@pytest.mark.long
@pytest.mark.parametrize("arguments", [["--version"], ["run", "--help"], ["decode", "page"]])
def test_a_full_disk_is_one_line_whoever_writes(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "page").write_text("up 1\n")
    run = [sys.executable, "-m", "paramedic.api.command_line", *arguments]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            run, stdout=full, stderr=subprocess.PIPE, cwd=tmp_path, timeout=60, check=False
        )
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
    assert b"the output cannot be written (No space left on device)" in done.stderr
