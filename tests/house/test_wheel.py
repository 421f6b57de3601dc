"""The built wheel, in an environment that holds torch and nothing else, runs the example."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
pytestmark = pytest.mark.connected


def run(*command: str | Path, folder: Path, timeout_seconds: float = 300) -> str:
    """Standard output of a command that has to succeed; its errors are shown when it does not."""
    bare = {k: v for k, v in os.environ.items() if not k.startswith(("PARAMEDIC", "PYTHON"))}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=bare,
        capture_output=True,
        text=True,
        timeout=timeout_seconds,
        check=False,
    )
    assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter with torch and our wheel alone."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "-o", folder, REPOSITORY, folder=folder)
    run(sys.executable, "-m", "venv", folder / "empty", folder=folder)
    python = folder / "empty" / "bin" / "python"
    quiet = ("--quiet", "--disable-pip-version-check")
    constraints = ("-c", REPOSITORY / "constraints.txt")
    run(python, "-m", "pip", "install", *quiet, *constraints, "torch==2.13.0", folder=folder)
    wheel = next(folder.glob("*.whl"))
    run(python, "-m", "pip", "install", *quiet, "--no-deps", wheel, folder=folder)
    return python


def test_the_trainer_library_imports_without_any_extra(python: Path, tmp_path: Path) -> None:
    seen = run(
        python,
        "-c",
        "import sys, paramedic.remediation.trainer.session, paramedic.remediation.launchers.local;"
        "print(sorted({'numpy', 'psutil', 'fastapi', 'sqlalchemy', 'kafka'} & set(sys.modules)))",
        folder=tmp_path,
    )
    assert seen.strip() == "[]"


def test_the_example_trains_under_the_bare_launcher(python: Path, tmp_path: Path) -> None:
    example = python.parent.parent / "share" / "paramedic" / "examples" / "train.py"
    paramedic = python.with_name("paramedic")
    launch = (paramedic, "run", "--bare", "--nproc", "2", "--spares", "0", "--", python, example)
    run(*launch, "--steps", "4", "--losses", tmp_path / "losses", folder=tmp_path)
    lines = [path.read_text() for path in (tmp_path / "losses").glob("*.jsonl")]
    assert sum(text.count('"step"') for text in lines) == 2 * 4


def test_a_verb_whose_extra_is_missing_names_it(python: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [python.with_name("paramedic"), "serve", "--run-folder", tmp_path],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "paramedic[" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
