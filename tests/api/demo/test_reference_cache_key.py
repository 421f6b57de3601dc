"""A reference run is used again only when everything that its losses depend on is the same."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

from paramedic.api.demo.cache_key import ReferenceKey, digest_files, processor_model

KEY = ReferenceKey("s", "t", 400, 4, "2.13.0", "cpu")


def test_equal_keys_have_one_name() -> None:
    assert KEY.digest() == ReferenceKey("s", "t", 400, 4, "2.13.0", "cpu").digest()


def test_any_change_gives_another_name() -> None:
    changed = (
        replace(KEY, script="other"),
        replace(KEY, trainer_library="other"),
        replace(KEY, steps=401),
        replace(KEY, ranks=5),
        replace(KEY, torch_version="2.14.0"),
        replace(KEY, processor="other"),
    )
    assert len(changed) == len(fields(KEY))
    assert len({KEY.digest(), *(key.digest() for key in changed)}) == len(changed) + 1


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
