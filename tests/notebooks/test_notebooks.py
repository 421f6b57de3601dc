"""Notebooks: pairs in step, without outputs, thin, and executed from end to end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "notebooks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.ipynb"))
_MOST_LINES_OF_A_CELL = 35
_MOST_LINES = 110


def notebook(name: str, folder: Path = FOLDER) -> Any:
    import nbformat

    return nbformat.read(folder / f"{name}.ipynb", as_version=4)  # type: ignore[no-untyped-call]


def code_of(name: str) -> list[str]:
    return [cell.source for cell in notebook(name).cells if cell.cell_type == "code"]


def test_there_are_three_of_them() -> None:
    assert NAMES == ["evaluate_and_promote", "explore_a_recording", "retrain"]
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert all(f"{name}.ipynb" in readme for name in NAMES)


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_both_halves_of_a_pair_say_the_same(name: str) -> None:
    import jupytext

    text = jupytext.read(FOLDER / f"{name}.py")
    cells = [(cell.cell_type, cell.source) for cell in text.cells]
    assert cells == [(cell.cell_type, cell.source) for cell in notebook(name).cells]


@pytest.mark.parametrize("name", NAMES)
def test_no_output_is_kept(name: str) -> None:
    cells = [cell for cell in notebook(name).cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in cells)


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_is_thin(name: str) -> None:
    cells = code_of(name)
    assert max(len(cell.splitlines()) for cell in cells) <= _MOST_LINES_OF_A_CELL
    assert sum(len(cell.splitlines()) for cell in cells) <= _MOST_LINES
    assert not any(line.startswith(("def ", "class ")) for c in cells for line in c.splitlines())


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_to_its_end(name: str, tmp_path: Path) -> None:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PARAMEDIC_")}
    quick = {"PARAMEDIC_NOTEBOOKS_QUICK": "1", "PARAMEDIC_PROMOTE": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(FOLDER / "execute.py"), name, "--out", str(tmp_path)]
    done = subprocess.run(
        command, env=kept | quick, capture_output=True, text=True, check=False, timeout=500
    )
    assert done.returncode == 0, done.stderr
    executed = notebook(name, tmp_path)
    outputs = [one for cell in executed.cells for one in cell.get("outputs", [])]
    assert any("image/png" in one.get("data", {}) for one in outputs), "nothing was drawn"
    assert not any(one.get("name") == "stderr" for one in outputs), "a cell complains"
