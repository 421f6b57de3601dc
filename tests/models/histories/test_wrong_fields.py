"""Labels and feedback that are not of their form are refused by file, line and field."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from models.histories.test_labels import NODE, START, label, labelled, say, verdict
from paramedic.models.histories.errors import LabelError
from paramedic.models.histories.feedback import Answer, read_feedback
from paramedic.models.histories.labelled import MARGIN_SECONDS, healthy_parts
from paramedic.models.histories.labels import KnownFault, labels_of


def said_of(recording: Path) -> str:
    with pytest.raises(LabelError) as told:
        labels_of(recording)
    return str(told.value)


@pytest.mark.parametrize("field", ["id", "fault", "onset"])
def test_a_verdict_without_a_field_is_refused_by_the_name_of_the_field(
    tmp_path: Path, field: str
) -> None:
    bare = {name: value for name, value in verdict().items() if name != field}
    say(tmp_path / "rec", "", {"verdict": bare, "answer": "right"})
    told = said_of(tmp_path / "rec")
    assert "rec.feedback.jsonl, line 2" in told
    assert repr(field) in told


def test_an_answer_that_there_is_not_is_named_beside_those_that_there_are(tmp_path: Path) -> None:
    say(tmp_path / "rec", {"verdict": verdict(), "answer": "perhaps"})
    told = said_of(tmp_path / "rec")
    assert all(answer in told for answer in ("perhaps", *Answer))


@pytest.mark.parametrize("onset", ["2026-01-01T00:10:00", "yesterday"])
def test_a_time_without_a_zone_or_that_is_none_is_named(tmp_path: Path, onset: str) -> None:
    say(tmp_path / "rec", {"verdict": verdict(onset=onset), "answer": "right"})
    assert onset in said_of(tmp_path / "rec")
    label(tmp_path / "other", onset=onset)
    assert onset in said_of(tmp_path / "other")


def test_a_verdict_that_is_over_has_to_say_since_when(tmp_path: Path) -> None:
    bare = {name: value for name, value in verdict().items() if name != "detected_at"}
    say(tmp_path / "rec", {"verdict": {**bare, "status": "resolved"}, "answer": "right"})
    assert "detected_at" in said_of(tmp_path / "rec")
    say(tmp_path / "rec", {"verdict": bare, "answer": "right"})
    assert labels_of(tmp_path / "rec").faults[0].end is None


def test_feedback_that_is_no_text_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "rec.feedback.jsonl"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(LabelError, match=r"rec\.feedback\.jsonl cannot be read"):
        read_feedback(file)
    with pytest.raises(LabelError, match="cannot be read"):
        read_feedback(tmp_path / "nowhere")


@pytest.mark.parametrize("field", ["kind", "node", "onset"])
def test_a_label_without_a_field_is_refused_by_the_name_of_the_field(
    tmp_path: Path, field: str
) -> None:
    whole = {"kind": "ecc_error", "node": NODE, "onset": "2026-01-01T00:10:00Z"}
    whole.pop(field)
    (tmp_path / "rec.labels.json").write_text(json.dumps({"faults": [whole]}))
    told = said_of(tmp_path / "rec")
    assert "rec.labels.json" in told
    assert repr(field) in told


def test_a_name_where_a_list_of_names_belongs_is_not_read_letter_by_letter(tmp_path: Path) -> None:
    label(tmp_path / "rec", nodes="node-0003")
    assert "nodes must be a list of names, not 'node-0003'" in said_of(tmp_path / "rec")


def test_words_of_a_truth_are_told_from_those_of_labels(tmp_path: Path) -> None:
    label(tmp_path / "rec", onset=1767226260)
    told = said_of(tmp_path / "rec")
    assert "faults[0]: 1767226260 is no time in words: only a truth.json has Unix seconds" in told
    foreign = {"fault": "ecc_error", "nodes": [NODE], "onset": "2026-01-01T00:10:00Z"}
    (tmp_path / "rec.labels.json").write_text(json.dumps({"faults": [foreign]}))
    assert "the field 'kind' is missing (a truth.json calls it 'fault')" in said_of(
        tmp_path / "rec"
    )


def test_an_onset_that_is_null_is_none(tmp_path: Path) -> None:
    label(tmp_path / "rec", onset=None)
    assert "without an onset" in said_of(tmp_path / "rec")


def test_a_label_file_of_its_own_goes_before_a_shared_one(tmp_path: Path) -> None:
    label(tmp_path / "rec", "labels.json", kind="network_group")
    label(tmp_path / "rec", kind="thermal")
    assert [one.kind for one in labels_of(tmp_path / "rec").faults] == ["thermal"]


@pytest.mark.parametrize(("over", "faults"), [(10, 2), (11, 1)])
def test_what_was_over_before_a_label_begins_is_another_fault(
    tmp_path: Path, over: int, faults: int
) -> None:
    label(tmp_path / "rec", end="2026-01-01T00:13:00Z")
    before = verdict(5, status="resolved", detected_at=f"2026-01-01T00:{over}:00Z")
    say(tmp_path / "rec", {"verdict": before, "answer": "right"})
    assert len(labels_of(tmp_path / "rec").faults) == faults


def test_faults_come_in_the_order_of_their_onsets(tmp_path: Path) -> None:
    label(tmp_path / "rec", end="2026-01-01T00:11:00Z")
    over = verdict(5, status="resolved", detected_at="2026-01-01T00:06:00Z")
    say(tmp_path / "rec", *({"verdict": one, "answer": "right"} for one in (verdict(20), over)))
    onsets = [(one.onset - START) // 60 for one in labels_of(tmp_path / "rec").faults]
    assert onsets == [5, 10, 20]


def test_a_fault_inside_another_ends_no_margin_early() -> None:
    long = KnownFault("ecc_error", (NODE,), START + 400, START + 1400)
    short = KnownFault("ecc_error", (NODE,), START + 500, START + 600)
    spans = [
        (one.seconds[0] - START, len(one.seconds)) for one in healthy_parts(labelled(long, short))
    ]
    assert spans == [(0, 400 - MARGIN_SECONDS), (1400 + MARGIN_SECONDS, 600 - MARGIN_SECONDS)]


@pytest.mark.parametrize(("onset", "parts"), [(209, 0), (210, 1)])
def test_a_part_shorter_than_a_minute_and_a_half_teaches_nothing(onset: int, parts: int) -> None:
    fault = KnownFault("ecc_error", (NODE,), START + onset)
    assert len([*healthy_parts(labelled(fault))]) == parts
