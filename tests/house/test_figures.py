"""The figures of the style guide, held so that they cannot creep."""

from __future__ import annotations

import ast
from pathlib import Path
from statistics import median

import pytest

from house.anatomy import (
    SourceFile,
    body_lines,
    broad_handlers,
    docstring,
    import_cycle,
    is_annotated,
    percentile,
    read_tree,
)

pytestmark = pytest.mark.long


REPOSITORY = Path(__file__).parents[2]
PARTS = ("ingest", "models", "diagnosis", "remediation", "api")
ROOTS = [REPOSITORY / part for part in PARTS]


@pytest.fixture(scope="module")
def sources() -> list[SourceFile]:
    return read_tree(ROOTS)


@pytest.fixture(scope="module")
def tests() -> list[SourceFile]:
    return read_tree([REPOSITORY / "tests"])


def test_functions_fit_on_a_screen(sources: list[SourceFile]) -> None:
    bodies = [body_lines(function) for file in sources for function in file.functions]
    assert median(bodies) <= 8
    assert percentile(bodies, 0.9) <= 30
    assert sum(lines > 60 for lines in bodies) <= 0.01 * len(bodies)


def test_files_hold_one_idea(sources: list[SourceFile]) -> None:
    lines = [file.lines for file in sources]
    assert percentile(lines, 0.9) <= 350
    assert [str(file.path) for file in sources if file.lines > 600] == []


def test_everything_is_annotated(sources: list[SourceFile]) -> None:
    bare = [
        f"{file.path}:{function.lineno} {function.name}"
        for file in sources
        for function in file.functions
        if not is_annotated(function)
    ]
    assert bare == []


def test_every_module_says_what_it_is_for(sources: list[SourceFile]) -> None:
    assert [str(file.path) for file in sources if docstring(file.tree) is None] == []


def test_an_init_file_holds_its_docstring_and_nothing_else(sources: list[SourceFile]) -> None:
    inits = [file for file in sources if file.path.name == "__init__.py"]
    assert [str(file.path) for file in inits if len(file.tree.body) != 1] == []


def test_hardly_anything_is_caught_broadly_and_nothing_silently(sources: list[SourceFile]) -> None:
    broad = broad_handlers(sources)
    assert len(broad) <= sum(file.code_lines for file in sources) / 1000
    assert [h.lineno for h in broad if all(isinstance(s, ast.Pass) for s in h.body)] == []


def test_no_module_imports_in_a_circle(sources: list[SourceFile]) -> None:
    assert import_cycle(sources, ROOTS) is None


def test_there_is_as_much_test_as_code(sources: list[SourceFile], tests: list[SourceFile]) -> None:
    code = sum(file.code_lines for file in sources)
    assert 1.0 <= sum(file.code_lines for file in tests) / code <= 1.8


@pytest.mark.parametrize("shrug", ["utils", "helpers", "common", "manager", "core", "misc"])
def test_no_module_has_a_name_that_shrugs(sources: list[SourceFile], shrug: str) -> None:
    parts = {part for file in sources for part in file.path.with_suffix("").parts[-4:]}
    assert shrug not in parts
