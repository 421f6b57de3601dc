"""The undisturbed run is made once and kept; half a run is never kept."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest

from paramedic.api.demo.child import child_verb
from paramedic.api.demo.errors import DemoRunError
from paramedic.api.demo.reference import (
    cache_folder,
    last_line_of,
    reference_curve,
    reference_key,
    training_command,
)
from paramedic.api.demo.request import DemoRequest, InjectedFault
from paramedic.api.settings.schema import JobSettings, Settings

TRAINING = """
    import json, os, pathlib, sys
    folder = pathlib.Path(sys.argv[sys.argv.index("--losses") + 1])
    rank = int(os.environ["RANK"])
    lines = [{"step": step, "rank": rank, "loss": (step + rank / 8).hex()} for step in range(3)]
    text = "".join(json.dumps(line) + chr(10) for line in lines)
    (folder / f"{rank}.jsonl").write_text(text)
"""


def request(folder: Path) -> DemoRequest:
    return DemoRequest(
        fault=InjectedFault.KILL,
        steps=3,
        seconds=None,
        rank=None,
        seed=None,
        script=None,
        keep=False,
        run_folder=None,
        settings=Settings(job=JobSettings(ranks=2, spares=1)),
        folder=folder,
        environment={"XDG_CACHE_HOME": str(folder / "cache"), "PATH": "/usr/bin:/bin"},
    )


def script(folder: Path, source: str = TRAINING) -> Path:
    path = folder / "train.py"
    path.write_text(textwrap.dedent(source))
    return path


def test_the_cache_lies_where_the_user_keeps_caches() -> None:
    assert cache_folder({"XDG_CACHE_HOME": "/x"}) == Path("/x/paramedic")
    assert cache_folder({}) == Path.home() / ".cache" / "paramedic"


def test_the_key_follows_the_script(tmp_path: Path) -> None:
    path = script(tmp_path)
    before = reference_key(request(tmp_path), path).digest()
    path.write_text("other")
    assert reference_key(request(tmp_path), path).digest() != before


def test_the_training_is_started_the_same_way_disturbed_or_not(tmp_path: Path) -> None:
    command = training_command(Path("t.py"), 7, tmp_path)
    assert command[1:] == ("t.py", "--steps", "7", "--losses", str(tmp_path))


@pytest.mark.connected
def test_a_reference_is_made_once_and_then_read(tmp_path: Path) -> None:
    path = script(tmp_path)
    curve = reference_curve(request(tmp_path), path, lambda _text: None)
    assert len(curve) == 6
    assert curve[2, 1] == [(2.125).hex()]
    (kept,) = (tmp_path / "cache" / "paramedic").iterdir()
    (kept / "0.jsonl").write_text(json.dumps({"step": 0, "rank": 0, "loss": (9.0).hex()}) + "\n")
    assert reference_curve(request(tmp_path), path, lambda _text: None)[0, 0] == [(9.0).hex()]


@pytest.mark.connected
def test_a_reference_that_fails_is_not_kept(tmp_path: Path) -> None:
    path = script(tmp_path, "raise SystemExit('no data')")
    with pytest.raises(DemoRunError, match="no data"):
        reference_curve(request(tmp_path), path, lambda _text: None)
    assert list((tmp_path / "cache" / "paramedic").iterdir()) == []


@pytest.mark.connected
def test_a_child_verb_is_ended_with_its_context(tmp_path: Path) -> None:
    arguments = ("run", "--bare", "--run-folder", str(tmp_path / "run"), "--", "sleep", "60")
    environment = {"PATH": "/usr/bin:/bin"}
    with child_verb(arguments, tmp_path / "log", environment) as child:
        assert not child.is_over(0.5)
    assert child.exit_code == 130
    assert child.end() == 130


def test_the_last_line_of_a_log_explains(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("one\ntwo\n\n")
    assert last_line_of(log) == "two"
    log.write_text("")
    assert last_line_of(log) == "its log is empty"
