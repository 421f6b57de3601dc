"""`job.json`: what it may say, what it must say, and what is told about it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.recordings.recorded import JOB
from paramedic.ingest.contract import NodeName
from paramedic.ingest.recordings.description import JobDescription, NodeRoles, RankRoles
from paramedic.ingest.recordings.description_reading import read_description
from paramedic.ingest.recordings.errors import RecordingFormatError

numbers = st.none() | st.integers(0, 5000)
names = st.text(min_size=1, max_size=9)
nodes = st.builds(
    NodeRoles, names, st.integers(0, 16), numbers, numbers, numbers, st.none() | names
)
ranks = st.builds(RankRoles, st.integers(0, 99), names, numbers, numbers, numbers, numbers, numbers)


@pytest.mark.long
@given(
    job=st.builds(
        JobDescription,
        names,
        st.floats(0.1, 60),
        st.lists(nodes, max_size=4).map(tuple),
        st.lists(ranks, max_size=4).map(tuple),
    )
)
def test_what_is_written_is_read_again(
    job: JobDescription, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("job")
    (folder / "job.json").write_text(job.to_json(), encoding="utf-8")
    assert read_description(folder) == job


def test_roles_ranks_and_the_interval_may_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "job.json").write_text(json.dumps({"schema": 1, "job": "j"}))
    assert read_description(tmp_path) == JobDescription("j", 1.0, ())  # type: ignore[arg-type]


def test_fields_of_a_newer_writer_are_passed_over(tmp_path: Path) -> None:
    node = {"name": "a", "gpus": 8, "vendor": "x", "rack": None}
    text = {"schema": 1, "job": "j", "colour": "green", "nodes": [node]}
    (tmp_path / "job.json").write_text(json.dumps(text))
    assert read_description(tmp_path).nodes == (NodeRoles(NodeName("a"), 8),)


def test_a_rank_s_own_role_outranks_its_node_s() -> None:
    job = JobDescription(
        JOB,
        1.0,
        (NodeRoles(NodeName("a"), 8, pipeline_stage=0, data_rank=3, switch="leaf-7"),),
        (RankRoles(5, NodeName("a"), pipeline_stage=2), RankRoles(6, NodeName("b"))),
    )
    assert [dict(roles) for _, roles in job.roles_of_ranks()] == [
        {"pipeline_stage": 2, "data_rank": 3, "switch": "leaf-7"}, {}
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{", "R/job.json is not JSON: "),
        ("[]", "R/job.json: the file is no JSON object"),
        ('{"job": "j"}', "R/job.json: schema is missing: add it"),
        ('{"schema": 2, "job": "j"}', "R/job.json: schema is 2, it must be 1; a newer Paramedic"),
        ('{"schema": 1}', "R/job.json: job is missing: add it"),
        ('{"schema": 1, "job": 7}', "R/job.json: job is 7, it must be a text that is not empty"),
        (
            '{"schema": 1, "job": "j", "sampling_seconds": 0}',
            "R/job.json: sampling_seconds is 0, it must be a number above 0 and at most 3600: the",
        ),
        (
            '{"schema": 1, "job": "j", "nodes": {"a": 1}}',
            "R/job.json: nodes is {'a': 1}, it must be a list of objects",
        ),
        (
            '{"schema": 1, "job": "j", "nodes": ["a"]}',
            "R/job.json: nodes[0] is no JSON object",
        ),
        (
            '{"schema": 1, "job": "j", "nodes": [{"name": "a"}, {"gpus": 8}]}',
            "R/job.json: nodes[1].name is missing: add it",
        ),
        (
            '{"schema": 1, "job": "j", "nodes": [{"name": "a", "gpus": "8"}]}',
            "R/job.json: nodes[0].gpus is '8', it must be a whole number from 0 to 1024",
        ),
        (
            '{"schema": 1, "job": "j", "ranks": [{"rank": -1, "node": "a"}]}',
            "R/job.json: ranks[0].rank is -1, it must be a whole number from 0 to 2147483647",
        ),
        (
            '{"schema": 1, "job": "j", "sampling_seconds": 1e300}',
            "R/job.json: sampling_seconds is 1e+300, it must be a number above 0 and at most 3600",
        ),
        (
            '{"schema": 1, "job": "j", "sampling_seconds": NaN}',
            "R/job.json: sampling_seconds is nan, it must be a number above 0",
        ),
        (
            '{"schema": 1, "job": "j", "nodes": [{"name": "a", "gpus": -8}]}',
            "R/job.json: nodes[0].gpus is -8, it must be a whole number from 0 to 1024",
        ),
        (
            '{"schema": 1, "job": "j", "nodes": [{"name": "a", "gpus": 1e300}]}',
            "R/job.json: nodes[0].gpus is 1e+300, it must be a whole number from 0 to 1024",
        ),
        (
            '{"schema": 1, "job": "j", "ranks": [{"rank": 1%s, "node": "a"}]}' % ("0" * 400),
            f"R/job.json: ranks[0].rank is 1{'0' * 79}…, it must be a whole number from 0 to 2147",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, text: str, line: str) -> None:
    (tmp_path / "job.json").write_text(text)
    with pytest.raises(RecordingFormatError) as caught:
        read_description(tmp_path)
    assert str(caught.value).replace(str(tmp_path), "R").startswith(line)


def test_a_folder_that_is_not_there_and_one_that_is_no_recording_are_told_apart(
    tmp_path: Path,
) -> None:
    with pytest.raises(
        RecordingFormatError, match="no such folder: name the folder of a recording"
    ):
        read_description(tmp_path / "nowhere")
    with pytest.raises(RecordingFormatError, match=r"is no recording: it holds no job\.json"):
        read_description(tmp_path)
