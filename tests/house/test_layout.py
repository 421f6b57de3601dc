"""The tree is the pipeline, and the five parts share one namespace."""

from __future__ import annotations

import importlib
import tomllib
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PARTS = ("ingest", "models", "diagnosis", "remediation", "api")


@pytest.mark.parametrize("part", PARTS)
def test_the_namespace_has_no_init_file_that_would_hide_the_other_parts(part: str) -> None:
    assert not (REPOSITORY / part / "paramedic" / "__init__.py").exists()


@pytest.mark.parametrize("part", PARTS)
def test_every_part_can_be_imported_and_is_typed(part: str) -> None:
    module = importlib.import_module(f"paramedic.{part}")
    assert module.__file__ is not None
    assert Path(module.__file__).with_name("py.typed").exists()


@pytest.mark.parametrize(
    "name",
    [
        *PARTS,
        "tests",
        "docs",
        "docs/decisions",
        "examples",
        "docker-compose.yml",
        "pyproject.toml",
        "Makefile",
        "LICENSE",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "CHANGELOG.md",
        ".ci/run",
    ],
)
def test_what_a_newcomer_looks_for_is_there(name: str) -> None:
    assert (REPOSITORY / name).exists()


def test_plain_paramedic_requires_nothing() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    assert project["dependencies"] == []


def test_torch_is_a_range_for_users_and_pinned_for_development() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    assert project["optional-dependencies"]["trainer"] == ["torch>=2.4,<3"]
    assert "torch==2.13.0" in (REPOSITORY / "constraints.txt").read_text().splitlines()


def test_the_example_becomes_recoverable_with_at_most_five_changed_lines() -> None:
    plain, recoverable = (
        (REPOSITORY / "examples" / name).read_text().splitlines()
        for name in ("train_plain.py", "train.py")
    )
    assert len(set(recoverable) - set(plain)) <= 5
    assert len(recoverable) - len(plain) <= 5
