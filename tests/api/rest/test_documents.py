"""What the API says it answers with is what the contracts hold and the README describes."""

from __future__ import annotations

import json
import re
from contextlib import AbstractContextManager
from dataclasses import fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.verdicts import NOON, a_verdict
from paramedic.api.rest import documents
from paramedic.api.rest.application import create_app
from paramedic.diagnosis.contract import (
    Candidate,
    Evidence,
    Fault,
    Phase,
    RecommendedAction,
    Scope,
    Severity,
    Status,
    Tier,
)
from paramedic.ingest.contract import JobState, NodeName
from paramedic.remediation.contract import (
    Action,
    ActionState,
    Incident,
    IncidentState,
    Job,
    Snapshot,
    Stay,
)
from paramedic.remediation.store.store import Store

README = (Path(__file__).parents[3] / "api" / "README.md").read_text(encoding="utf-8")
FULL = a_verdict(
    gpu=3,
    members=(NodeName("node-0001"),),
    rank=2,
    first_detected_at=NOON,
    failed_at=NOON,
    candidates=(Candidate(NodeName("node-0002"), 41.2),),
    evidence=(Evidence("heartbeat", None, 1.0, -9.8, NOON),),
)


class NoRecords:
    """The document is made without a look into any database."""

    def reading(self) -> AbstractContextManager[Snapshot]:
        raise AssertionError


@pytest.fixture(scope="module")
def openapi() -> Any:
    return create_app(NoRecords(), version="1").openapi()


@pytest.mark.parametrize(
    ("document", "record", "left_out"),
    [
        (documents.JobDocument, Job, set()),
        (documents.StayDocument, Stay, {"job"}),
        (documents.IncidentDocument, Incident, set()),
        (documents.ActionDocument, Action, set()),
    ],
)
def test_a_document_has_the_fields_of_its_record(
    document: Any, record: Any, left_out: set[str]
) -> None:
    assert set(document.model_fields) == {one.name for one in fields(record)} - left_out


def test_a_verdict_has_the_fields_that_are_on_the_topic() -> None:
    told = FULL.to_dict()
    assert set(documents.VerdictDocument.model_fields) == set(told)
    (evidence,), (candidate,) = told["evidence"], told["candidates"]
    assert set(documents.EvidenceDocument.model_fields) == set(evidence)
    assert set(documents.CandidateDocument.model_fields) == set(candidate)
    assert set(documents.RecommendationDocument.model_fields) == set(told["action"])


@given(
    scope=st.sampled_from(list(Scope)),
    status=st.sampled_from(list(Status)),
    fault=st.sampled_from(list(Fault)),
    severity=st.sampled_from(list(Severity)),
    tier=st.sampled_from(list(Tier)),
    phase=st.sampled_from(list(Phase)),
    gpu=st.none() | st.integers(0, 15),
    confidence=st.floats(0, 1),
    summary=st.text(max_size=20),
)
def test_every_verdict_is_what_the_document_describes(**given_fields: Any) -> None:
    told = json.loads(a_verdict(**given_fields).to_json())
    described = documents.VerdictDocument.model_validate(told).model_dump(mode="json")
    assert {name: described[name] for name in told} == told


@pytest.mark.parametrize(
    "words",
    [Scope, Status, Fault, Phase, Tier, Severity, RecommendedAction, JobState, IncidentState,
     ActionState],
)  # fmt: skip
def test_readers_are_told_every_word_that_can_come(openapi: Any, words: type[StrEnum]) -> None:
    described = openapi["components"]["schemas"][words.__name__]["enum"]
    assert described == [member.value for member in words]


def test_the_readme_lists_the_paths_and_their_filters(openapi: Any) -> None:
    rows = dict(re.findall(r"^\| `(/\S+)`(?:, `/\S+`)? \| (.*) \|$", README, re.MULTILINE))
    for path, methods in openapi["paths"].items():
        row = rows[re.sub(r"\{\w+_id\}", "{id}", path)]
        asked = {
            one["name"] for one in methods["get"].get("parameters", ()) if one["in"] == "query"
        }
        assert asked == set(re.findall(r"`(\w+)`", row)) & {
            "job", "status", "state", "node", "fault", "limit", "over"
        }  # fmt: skip


def test_lists_are_of_1_to_1000_and_one_more_is_named(client: Any) -> None:
    for path in ("/v1/verdicts", "/v1/incidents"):
        for limit in (1, 1000):
            assert client.get(f"{path}?limit={limit}").status_code == 200
        for limit in (0, 1001, -1):
            answer = client.get(f"{path}?limit={limit}")
            assert answer.status_code == 422
            assert answer.json()["detail"].startswith("limit: Input should be ")


def test_without_a_limit_a_hundred_come(openapi: Any) -> None:
    for path in ("/v1/verdicts", "/v1/incidents"):
        (limit,) = [
            one for one in openapi["paths"][path]["get"]["parameters"] if one["name"] == "limit"
        ]
        assert (limit["schema"]["default"], limit["schema"]["maximum"]) == (100, 1000)


def test_every_parameter_that_cannot_be_used_is_named(client: Any) -> None:
    answer = client.get("/v1/verdicts?limit=x&status=off&fault=rust&node=n").json()
    assert sorted(error["name"] for error in answer["errors"]) == ["fault", "limit", "status"]
    assert all(error["name"] in answer["detail"] for error in answer["errors"])


def test_an_incident_without_a_known_state_filter_is_422(client: Any) -> None:
    answer = client.get("/v1/incidents?state=over")
    assert (answer.status_code, answer.json()["errors"][0]["name"]) == (422, "state")
    assert "'open', 'acting', 'recovered' or 'failed'" in answer.json()["detail"]


def test_a_name_that_nobody_has_is_404_and_shown_as_it_is(client: Any) -> None:
    for name, shown in (("a%20b", "'a b'"), ("%C3%A4", "'ä'"), ("%22%3Cb%3E", "'\"<b>'")):
        for path in ("/v1/jobs", "/v1/verdicts", "/v1/incidents"):
            answer = client.get(f"{path}/{name}")
            assert (answer.status_code, shown in answer.json()["detail"]) == (404, True)


def test_an_empty_store_answers_with_empty_lists(store: Store, client_of: Any) -> None:
    client = client_of(create_app(store, version="1"))
    for name in ("jobs", "verdicts", "incidents"):
        assert client.get(f"/v1/{name}").json() == {name: []}
    assert client.get("/healthz").json() == {"status": "ok", "alive": {"database": True}}


def test_verdicts_of_a_list_stand_as_they_came_with_their_own_spacing(
    store: Store, client_of: Any
) -> None:
    messages = [
        json.dumps(replace(FULL, id=f"V{number}").to_dict(), indent=number).encode()
        for number in range(3)
    ]
    with store.writing() as tx:
        for number, message in enumerate(messages):
            tx.verdicts.put(replace(FULL, id=f"V{number}"), message)
    answer = client_of(create_app(store, version="1")).get("/v1/verdicts")
    assert answer.content == b'{"verdicts": [' + b", ".join(messages) + b"]}"
    assert [one["id"] for one in answer.json()["verdicts"]] == ["V0", "V1", "V2"]
