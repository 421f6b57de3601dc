"""What is known of recordings: label files, and what people said of verdicts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from paramedic.ingest.contract import Entity, EntityKey, JobName, NodeName, Window
from paramedic.models.histories.errors import LabelError
from paramedic.models.histories.feedback import Answer, read_feedback
from paramedic.models.histories.labelled import LabelledHistory, healthy_parts
from paramedic.models.histories.labels import KnownFault, Labels, labels_of
from paramedic.models.history import JobHistory

START = 1_767_225_600
"""2026-01-01T00:00:00Z"""
NODE = NodeName("node-0003")


def verdict(minute: int = 10, **other: object) -> dict[str, object]:
    """A verdict as it is told; the fields that are read."""
    fields = {"id": f"V{minute}", "node": NODE, "fault": "unknown", "status": "firing",
              "onset": f"2026-01-01T00:{minute:02}:00Z",
              "detected_at": f"2026-01-01T00:{minute:02}:09Z"}  # fmt: skip
    return {**fields, **other}


def say(recording: Path, *answers: object) -> None:
    lines = [one if isinstance(one, str) else json.dumps(one) for one in answers]
    file = recording.with_name(f"{recording.name}.feedback.jsonl")
    file.write_text("\n".join(lines) + "\n")


def label(recording: Path, name: str = "", **fault: object) -> None:
    whole = {"kind": "ecc_error", "node": NODE, "onset": "2026-01-01T00:10:00Z"} | fault
    told = {"schema": 1, "recording": recording.name, "faults": [whole]}
    recording.with_name(name or f"{recording.name}.labels.json").write_text(json.dumps(told))


def test_of_a_recording_without_labels_nothing_is_known(tmp_path: Path) -> None:
    assert not labels_of(tmp_path / "rec").are_there


def test_a_label_file_says_what_was_broken(tmp_path: Path) -> None:
    label(tmp_path / "rec", gpu=3, end="2026-01-01T00:12:00Z", halted_at="2026-01-01T00:11:00Z")
    assert labels_of(tmp_path / "rec").faults == (
        KnownFault("ecc_error", (NODE,), START + 600, START + 720, START + 660, 3),
    )


def test_a_shared_label_file_counts_for_its_own_recording_alone(tmp_path: Path) -> None:
    label(tmp_path / "rec", "labels.json", nodes=["a", "b", "c"], kind="network_group")
    (fault,) = labels_of(tmp_path / "rec").faults
    assert fault.is_group
    assert not labels_of(tmp_path / "other").are_there


def test_a_right_verdict_is_a_fault_and_a_cause_corrects_its_kind(tmp_path: Path) -> None:
    say(tmp_path / "rec", {"verdict": verdict(), "answer": "right", "cause": "pcie_downgrade"})
    assert labels_of(tmp_path / "rec").faults == (
        KnownFault("pcie_downgrade", (NODE,), START + 600),
    )


def test_a_resolved_verdict_tells_when_it_was_over(tmp_path: Path) -> None:
    resolved = verdict(status="resolved", detected_at="2026-01-01T00:20:00Z")
    say(tmp_path / "rec", {"verdict": resolved, "answer": "right"})
    assert labels_of(tmp_path / "rec").faults[0].end == START + 1200


def test_of_a_wrong_node_the_right_one_is_broken_where_it_is_known(tmp_path: Path) -> None:
    say(
        tmp_path / "rec",
        {"verdict": verdict(1), "answer": "wrong_node", "node": "node-0009"},
        {"verdict": verdict(2), "answer": "wrong_node"},
    )
    assert [one.nodes for one in labels_of(tmp_path / "rec").faults] == [("node-0009",)]


def test_a_verdict_that_was_no_fault_is_kept_as_that(tmp_path: Path) -> None:
    say(tmp_path / "rec", {"verdict": verdict(), "answer": "not_a_fault"}, "")
    labels = labels_of(tmp_path / "rec")
    assert not labels.faults
    assert [one.accused for one in labels.no_faults] == [NODE]


def test_of_several_answers_the_last_one_holds(tmp_path: Path) -> None:
    say(
        tmp_path / "rec",
        {"verdict": verdict(), "answer": "right"},
        {"verdict": verdict(), "answer": "not_a_fault"},
    )
    (one,) = read_feedback(tmp_path / "rec.feedback.jsonl")
    assert one.answer is Answer.NOT_A_FAULT


def test_a_fault_that_is_labelled_and_confirmed_is_one_fault(tmp_path: Path) -> None:
    label(tmp_path / "rec")
    say(tmp_path / "rec", {"verdict": verdict(11), "answer": "right"})
    assert [one.kind for one in labels_of(tmp_path / "rec").faults] == ["ecc_error"]


@pytest.mark.parametrize(
    "line",
    ["no json", "[]", '{"answer": "right"}', '{"verdict": {}, "answer": "right"}',
     json.dumps({"verdict": {"id": "V"}, "answer": "perhaps"})],
)  # fmt: skip
def test_feedback_of_another_form_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    say(tmp_path / "rec", {"verdict": verdict(), "answer": "right"}, line)
    with pytest.raises(LabelError, match="line 2"):
        labels_of(tmp_path / "rec")


@pytest.mark.parametrize("text", ["{", "[]", '{"faults": [{}]}', '{"faults": 3}', "[" * 99_999])
def test_a_label_file_of_another_form_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "rec.labels.json").write_text(text)
    with pytest.raises(LabelError, match="label file"):
        labels_of(tmp_path / "rec")


def labelled(*faults: KnownFault, seconds: int = 2000) -> LabelledHistory:
    values = np.zeros((1, 1, seconds), np.float32)
    rows = (EntityKey(Entity.NODE, NODE),)
    window = Window(
        JobName("job"), 0, Entity.NODE, START, rows, ("m",), values, values == 0
    )  # fmt: skip
    history = JobHistory(JobName("job"), {Entity.NODE: window})
    return LabelledHistory("rec", history, Labels(faults))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"recording": "other"}, "recording is 'other', and it lies beside"),
        ({"schema": 9}, "schema is 9"),
        ({"faults": None}, "something stands where something else belongs"),
        ({"faults": [{"kind": "ecc_error", "node": 5}]}, "node must be a name"),
        ({"faults": [{"kind": "ecc_error"}]}, "the field 'node' is missing; wanted is"),
    ],
)
def test_a_message_about_labels_says_which_field_and_what_is_wanted(
    tmp_path: Path, changed: dict[str, object], words: str
) -> None:
    recording = tmp_path / "a"
    told = {"schema": 1, "recording": "a", "faults": []} | changed
    recording.with_name("a.labels.json").write_text(json.dumps(told))
    with pytest.raises(LabelError, match=words):
        labels_of(recording)


def test_without_faults_everything_is_healthy() -> None:
    assert [len(one.seconds) for one in healthy_parts(labelled())] == [2000]


def test_faults_and_some_time_around_them_are_left_out() -> None:
    faults = (
        KnownFault("ecc_error", (NODE,), START + 500, START + 600),
        KnownFault("ecc_error", (NODE,), START + 1200),
    )
    spans = [
        (p.seconds[0] - START, p.seconds[-1] - START) for p in healthy_parts(labelled(*faults))
    ]
    assert spans == [(0, 379), (720, 1079)]


def test_faults_of_other_times_are_not_in_a_stretch() -> None:
    before = KnownFault("ecc_error", (NODE,), START - 900, START - 500)
    after = KnownFault("ecc_error", (NODE,), START + 5000)
    assert not labelled(before, after).faults
