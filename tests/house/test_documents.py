"""What the documents say is what the repository does."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
README = (REPOSITORY / "README.md").read_text()
MAKEFILE = (REPOSITORY / "Makefile").read_text()
DOCUMENTS = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "*/README.md")
    for path in REPOSITORY.glob(pattern)
    if ".venv" not in path.parts
)


def changed(diff: str) -> list[str]:
    """The added and removed lines of a unified diff, without its headers."""
    lines = (line for line in diff.splitlines() if not line.startswith(("---", "+++")))
    return [line for line in lines if line[:1] in {"+", "-"}]


def test_the_readme_shows_the_two_examples_as_they_differ() -> None:
    names = ("examples/train_plain.py", "examples/train.py")
    command = ["diff", "-U0", *(str(REPOSITORY / name) for name in names)]
    real = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    shown = re.search(r"```diff\n(.*?)```", README, re.DOTALL)
    assert shown is not None
    assert changed(shown[1]) == changed(real)


@pytest.mark.parametrize("command", re.findall(r"(?m)(?:^|`)(make [a-z]+)", README))
def test_every_make_command_of_the_readme_exists(command: str) -> None:
    assert re.search(rf"^{command.split()[1]}:", MAKEFILE, re.MULTILINE)


def test_help_names_every_command_of_the_makefile() -> None:
    done = subprocess.run(
        ["make", "--no-print-directory", "help"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    phony = re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    assert phony is not None
    assert {line.split()[0] for line in done.stdout.splitlines()} == set(phony[1].split())


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_every_link_between_documents_leads_somewhere(document: Path) -> None:
    targets = re.findall(r"\]\((?!https?://|#)([^)#]+)", document.read_text())
    missing = [target for target in targets if not (document.parent / target).exists()]
    assert missing == []


def test_continuous_integration_runs_what_a_person_runs() -> None:
    commands = (REPOSITORY / ".ci" / "run").read_text().splitlines()
    assert [line for line in commands if line.startswith("make ")] == ["make test", "make check"]
