"""What tells one version of a detector from another, and what does not."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from diagnosis.benchmark.staged import alarm, facts, fault
from paramedic.diagnosis.benchmark import provenance
from paramedic.diagnosis.benchmark.ledger import ResultsLedger
from paramedic.diagnosis.benchmark.provenance import code_digest, makers_of
from paramedic.diagnosis.benchmark.results import Result
from paramedic.models.rivals.cusum import Cusum, CusumSettings, as_it_is, share_of_peers
from paramedic.models.rivals.floor import Floor


def floor(scorer: Cusum, name: str = "sum") -> Floor:
    return Floor(name, scorer, (1.0,))


def test_a_maker_is_told_by_its_code_and_by_all_of_its_settings() -> None:
    different = [
        floor(Cusum(as_it_is)),
        floor(Cusum(share_of_peers)),
        floor(Cusum(as_it_is, CusumSettings(allowance=2.0))),
        floor(Cusum(as_it_is), "another"),
    ]
    assert len({next(iter(makers_of([one]).values())) for one in different}) == 4
    assert makers_of(different[:1]) == makers_of([floor(Cusum(as_it_is))])


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A part of the namespace in which a module imports another inside of a function."""
    import paramedic

    folder = tmp_path / "paramedic" / "staged_part"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text('"""Staged."""\n')
    (folder / "first.py").write_text(
        "def see():\n    from paramedic.staged_part.second import LIMIT\n    return LIMIT\n"
    )
    (folder / "second.py").write_text("LIMIT = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert str(folder.parent) in list(paramedic.__path__)
    yield folder
    for name in [one for one in sys.modules if one.startswith("paramedic.staged_part")]:
        del sys.modules[name]


def digest() -> str:
    """As another process would find it: what was read is forgotten."""
    provenance._parsed.cache_clear()
    provenance._imported.cache_clear()
    provenance._data_beside.cache_clear()
    return code_digest("paramedic.staged_part.first")


def test_what_a_module_imports_counts_and_comments_do_not(package: Path) -> None:
    before = digest()
    (package / "second.py").write_text("# Seen in the field.\nLIMIT = 1\n")
    assert digest() == before
    (package / "second.py").write_text("LIMIT = 2\n")
    assert digest() != before


def test_data_beside_a_module_counts(package: Path) -> None:
    before = digest()
    (package / "limits.toml").write_text("limit = 1\n")
    assert digest() != before


def test_results_of_another_version_are_examined_again_and_stay_in_the_file(
    tmp_path: Path,
) -> None:
    def ledger(of_ours: str) -> ResultsLedger:
        return ResultsLedger(tmp_path, {}, {"paramedic": of_ours, "minder": "m"})

    def said(name: str, at: int) -> Result:
        return Result("test-0", name, {1.0: (alarm(at, 0),)}, 0.5)

    ledger("a").add(facts(fault(0)), [said("paramedic", 60), said("minder", 70)])
    changed = ledger("b")
    assert (changed.has("test-0", "paramedic"), changed.has("test-0", "minder")) == (False, True)
    assert changed.outdated == ["paramedic"]
    changed.add(facts(fault(0)), [said("paramedic", 55)])
    assert ledger("b").outdated == changed.outdated == []
    assert ledger("b").results["test-0", "paramedic"] == said("paramedic", 55)
    assert ledger("a").results["test-0", "paramedic"] == said("paramedic", 60)
