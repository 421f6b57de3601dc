"""A reference run is used again only when everything that its losses depend on is the same."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

from paramedic.api.demo.cache_key import ReferenceKey, digest_files, processor_model

KEY = ReferenceKey("s", "t", 400, 4, "2.13.0", "cpu")


def test_equal_keys_have_one_name() -> None:
    assert KEY.digest() == ReferenceKey("s", "t", 400, 4, "2.13.0", "cpu").digest()


def test_any_change_gives_another_name() -> None:
    changed = {
        replace(KEY, **{field.name: 7 if field.type == "int" else "other"}).digest()
        for field in fields(KEY)
    }
    assert len(changed | {KEY.digest()}) == len(fields(KEY)) + 1


def test_a_digest_of_files_sees_names_and_contents_but_no_order(tmp_path: Path) -> None:
    one, two = tmp_path / "one.py", tmp_path / "two.py"
    one.write_text("a")
    two.write_text("b")
    first = digest_files([one, two])
    assert digest_files([two, one]) == first
    two.write_text("c")
    assert digest_files([one, two]) != first
    two.rename(tmp_path / "three.py")
    assert digest_files([one, tmp_path / "three.py"]) != first


def test_a_processor_without_a_name_is_unknown() -> None:
    assert processor_model("") == "unknown"
    assert processor_model("flags : fpu\nmodel name : Fast One\n") == "Fast One"
