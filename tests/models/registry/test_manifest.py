"""Manifests and records say the same after they were written and read, and damage is seen."""

from __future__ import annotations

import json
import os
import string
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.registry.models_of_ours import AT, manifest_of
from paramedic.models.registry.errors import ModelFileError, RegistryError, TamperedModelError
from paramedic.models.registry.manifest import Manifest, TrainedOn
from paramedic.models.registry.record_file import read_record, record_bytes
from paramedic.models.registry.stages import Entry, Record, Stage, StageChange, Step

WORDS = st.text(max_size=12)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
SIZES = st.integers(0, 2**53)
CHANGES = st.builds(StageChange, at=WORDS, stage=st.sampled_from(Stage), why=WORDS)
MANIFESTS = st.builds(
    Manifest,
    name=WORDS,
    created=WORDS,
    code_version=WORDS,
    catalogue_version=WORDS,
    version=SIZES,
    tensors_sha256=st.text(string.hexdigits, max_size=64),
    settings=st.dictionaries(WORDS, SIZES | NUMBERS | WORDS, max_size=3),
    metrics=st.lists(WORDS, max_size=3).map(tuple),
    fingerprint=st.dictionaries(WORDS, st.dictionaries(WORDS, NUMBERS, max_size=2), max_size=2),
    scores=st.dictionaries(WORDS, NUMBERS, max_size=2),
    trained_on=st.lists(st.builds(TrainedOn, WORDS, SIZES, SIZES, WORDS), max_size=2).map(tuple),
    stages=st.lists(CHANGES, max_size=2).map(tuple),
)


@given(MANIFESTS)
def test_a_manifest_comes_back_as_it_was_written(manifest: Manifest) -> None:
    again = Manifest.from_json(manifest.to_json(), "here")
    assert again == manifest
    assert again.to_json() == manifest.to_json()


@given(MANIFESTS, st.data())
def test_any_byte_that_is_changed_is_seen_or_changes_nothing(
    manifest: Manifest, data: st.DataObject
) -> None:
    content = bytearray(manifest.to_json())
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] = data.draw(st.integers(0, 255))
    try:
        read = Manifest.from_json(bytes(content), "here")
    except ModelFileError:
        return
    assert read == manifest  # only blanks between the fields were changed


def test_the_hash_speaks_for_every_field() -> None:
    one = manifest_of()
    others = [
        replace(one, name="other"), replace(one, version=2), replace(one, scores={}),
        replace(one, trained_on=()), replace(one, stages=(StageChange(AT, Stage.CANDIDATE),)),
        replace(one, fingerprint={"m": {"input_q50": 0.0}}), replace(one, catalogue_version=""),
    ]  # fmt: skip
    assert len({one.digest, *(other.digest for other in others)}) == 1 + len(others)


def test_a_hash_that_was_forged_for_other_content_is_refused() -> None:
    content = manifest_of().to_json()
    forged = content.replace(manifest_of().digest.encode(), b"0" * 64)
    with pytest.raises(TamperedModelError, match=f"manifest_sha256 says {'0' * 64}"):
        Manifest.from_json(forged, "here")


RECORDS = st.lists(
    st.builds(Entry, WORDS, st.sampled_from(Step), st.integers(1, 9), WORDS, WORDS), max_size=5
).map(lambda entries: Record(tuple(entries)))


@given(RECORDS)
def test_a_record_comes_back_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, record: Record
) -> None:
    path = tmp_path_factory.getbasetemp() / "record.json"
    path.write_bytes(record_bytes(record))
    assert read_record(path) == record


def test_a_recording_whose_name_is_no_utf_8_can_have_taught() -> None:
    seen = TrainedOn(os.fsdecode(b"r\xff"), 0, 10, "0123")
    kept = replace(manifest_of(), trained_on=(seen,))
    assert Manifest.from_json(kept.to_json(), "x") == kept
    assert kept.to_json().decode("utf-8")


def test_a_record_that_is_cut_off_anywhere_is_no_shorter_record(tmp_path: Path) -> None:
    record = Record().added(AT, 1, "a").promoted(AT, 1).added(AT, 2, "b").promoted(AT, 2)
    whole, path = record_bytes(record), tmp_path / "record.json"
    for length in range(0, len(whole) - 1, 9):
        path.write_bytes(whole[:length])
        with pytest.raises(ModelFileError, match="no record of a registry"):
            read_record(path)


def test_a_record_has_an_entry_a_line_for_people() -> None:
    text = record_bytes(Record().added(AT, 1, "a").promoted(AT, 1, "better")).decode()
    lines = text.splitlines()
    assert len(lines) == 4
    assert json.loads(lines[2])["why"] == "better"


def test_the_history_of_a_version_tells_when_and_why() -> None:
    record = Record().added("t0", 1, "a").added("t1", 2, "b")
    record = record.promoted("t2", 1, "first").promoted("t3", 2, "better").rolled_back("t4", "loud")
    assert record.history_of(1) == (
        StageChange("t0", Stage.CANDIDATE),
        StageChange("t2", Stage.PRODUCTION, "first"),
        StageChange("t3", Stage.RETIRED, "better"),
        StageChange("t4", Stage.PRODUCTION, "loud"),
    )
    assert record.history_of(2)[-1] == StageChange("t4", Stage.RETIRED, "loud")


def test_a_number_is_given_once() -> None:
    with pytest.raises(RegistryError, match="version 1 is there already"):
        Record().added(AT, 1, "a").added(AT, 1, "b")
