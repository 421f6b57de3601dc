"""Health, metrics and the page for people, in the cases between all well and all broken."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.signs import SetSigns
from api.verdicts import NOON, a_verdict
from paramedic.api.rest.application import create_app
from paramedic.api.rest.docs_page import docs_page
from paramedic.api.rest.errors import ApiAddressError
from paramedic.api.rest.loopback import address_of, loopback_socket, require_loopback
from paramedic.diagnosis.contract import Severity, Status
from paramedic.ingest.contract import Event, EventKind, JobName, NodeName
from paramedic.remediation.bookkeeping import Bookkeeping
from paramedic.remediation.store.store import Store


def client_with(client_of: Any, store: Store, signs: Mapping[str, SetSigns]) -> Any:
    return client_of(create_app(store, version="1", signs=signs))


def test_everybody_who_is_silent_is_named_with_the_age_of_its_last_sign(
    store: Store, client_of: Any
) -> None:
    signs = {"bus": SetSigns(31.4), "diagnose": SetSigns(30.0), "remediate": SetSigns(99.6)}
    answer = client_with(client_of, store, signs).get("/healthz")
    assert answer.status_code == 503
    assert answer.json()["detail"] == (
        "not alive: bus (last sign of life 31 s ago), remediate (last sign of life 100 s ago); "
        "the logs of the run say more"
    )
    assert answer.json()["alive"] == {
        "database": True, "bus": False, "diagnose": True, "remediate": False
    }  # fmt: skip


def test_a_database_that_is_away_is_told_before_who_is_silent(
    store: Store, client_of: Any, break_store: Callable[[], None]
) -> None:
    client = client_with(client_of, store, {"bus": SetSigns(99.0)})
    break_store()
    answer = client.get("/healthz").json()
    assert answer["alive"] == {"database": False, "bus": False}
    assert "does not answer" in answer["detail"]
    assert answer["instance"] == "/healthz"


def test_how_long_each_service_is_silent_is_a_metric(store: Store, client_of: Any) -> None:
    signs = {"bus": SetSigns(0.25), "diagnose": SetSigns(7.0)}
    page = client_with(client_of, store, signs).get("/metrics").text
    assert 'paramedic_service_silent_seconds{service="bus"} 0.25\n' in page
    assert 'paramedic_service_silent_seconds{service="diagnose"} 7.0\n' in page


def test_what_a_job_has_not_said_is_no_metric_and_null(store: Store, client_of: Any) -> None:
    joined = Event(NOON, EventKind.MEMBERSHIP, JobName("silent"), details={"change": "joined"})
    Bookkeeping(store).take(joined)
    client = client_with(client_of, store, {})
    page = client.get("/metrics").text
    assert 'paramedic_job_generation{job="silent"} 0.0\n' in page
    for name in ("info", "step", "goodput_ratio"):
        assert f"paramedic_job_{name}{{" not in page
    job = client.get("/v1/jobs/silent").json()
    assert [job[name] for name in ("state", "step", "goodput", "ended_at")] == [None] * 4
    assert job["placements"] == []


def test_of_a_job_that_is_only_watched_ranks_and_goodput_are_unknown(
    store: Store, client_of: Any
) -> None:
    job, books = JobName("watched"), Bookkeeping(store)
    node = NodeName("node-0000")
    books.take(Event(NOON, EventKind.MEMBERSHIP, job, node, details={"change": "joined"}))
    books.take(Event(NOON, EventKind.JOB_STATE, job, details={"state": "training"}))
    books.bring_up_to(NOON + timedelta(minutes=1))
    client = client_with(client_of, store, {})
    (listed,) = client.get("/v1/jobs").json()["jobs"]
    detailed = client.get("/v1/jobs/watched").json()
    assert [stay["node"] for stay in detailed.pop("placements")] == ["node-0000"]
    assert listed == detailed
    assert [listed[name] for name in ("world_size", "step", "goodput")] == [None] * 3
    assert listed["state"] == "training"
    assert "paramedic_job_goodput_ratio{" not in client.get("/metrics").text


def test_a_verdict_that_is_over_moves_and_its_changes_stay(store: Store, client_of: Any) -> None:
    states = (
        a_verdict(),
        a_verdict(status=Status.RESOLVED),
        a_verdict(id="V2", severity=Severity.P0),
    )
    with store.writing() as tx:
        for verdict in states:
            tx.verdicts.put(verdict, verdict.to_json())
    page = client_with(client_of, store, {}).get("/metrics").text
    counted = re.findall(r"^(paramedic_verdict\w+)\{(.*)\} (\S+)$", page, re.MULTILINE)
    assert counted == [
        ("paramedic_verdicts", 'fault="hang",severity="P0",status="firing"', "1.0"),
        ("paramedic_verdicts", 'fault="hang",severity="P1",status="resolved"', "1.0"),
        ("paramedic_verdict_changes_total", 'status="firing"', "2.0"),
        ("paramedic_verdict_changes_total", 'status="resolved"', "1.0"),
    ]


def operation(**more: Any) -> dict[str, Any]:
    return {"operationId": "get_it", "responses": {}, **more}


def page_of(**methods: Any) -> str:
    schemas = {"Thing": {"examples": [{"a": 1}, {"a": None}]}, "Bare": {}}
    return docs_page({
        "info": {"title": "T", "version": "2", "description": "what & why"},
        "paths": {"/v1/it": methods},
        "components": {"schemas": schemas},
    })  # fmt: skip


def answers(name: str) -> dict[str, Any]:
    schema = {"$ref": f"#/components/schemas/{name}"}
    return {"description": "Fine", "content": {"application/json": {"schema": schema}}}


def test_the_page_shows_parameters_answers_and_every_example() -> None:
    page = page_of(get=operation(
        description="Gets it.",
        parameters=[{"name": "limit", "description": "At most."}, {"name": "job"}],
        responses={"200": answers("Thing"), "404": answers("Thing")},
    ))  # fmt: skip
    assert "<h1>T 2</h1>\n<p>what &amp; why</p>" in page
    assert "<code>GET /v1/it</code></h2><p>Gets it.</p>" in page
    assert "<tr><td><code>limit</code></td><td>At most.</td></tr>" in page
    assert "<tr><td><code>job</code></td><td></td></tr>" in page
    assert "<strong>404</strong> Fine" in page
    assert page.count("<pre>") == 2, "examples stand below 200 only"
    assert "&quot;a&quot;: null" in page


def test_the_page_shows_no_table_and_no_example_where_there_is_none() -> None:
    page = page_of(get=operation(responses={"200": answers("Bare")}), post=operation())
    assert "<table>" not in page
    assert "<pre>" not in page
    assert "<code>POST /v1/it</code>" in page


@given(st.ip_addresses())
def test_no_address_but_those_of_this_machine_is_served(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    if address.is_loopback:
        require_loopback(str(address))
    else:
        with pytest.raises(ApiAddressError, match=re.escape(repr(str(address)))):
            require_loopback(str(address))


@given(st.text(max_size=12).filter(lambda text: text != "localhost"))
def test_a_name_is_not_looked_up_to_find_out(name: str) -> None:
    try:
        is_loopback = ipaddress.ip_address(name).is_loopback
    except ValueError:
        is_loopback = False
    if not is_loopback:
        with pytest.raises(ApiAddressError):
            require_loopback(name)


@dataclass(frozen=True)
class Bound:
    """A socket as far as its name."""

    name: tuple[object, ...]

    def getsockname(self) -> tuple[object, ...]:
        return self.name


@pytest.mark.parametrize(
    ("name", "url"),
    [(("127.0.0.1", 80), "http://127.0.0.1:80"), (("::1", 8370, 0, 0), "http://[::1]:8370")],
)
def test_the_url_of_a_socket_can_be_typed(name: tuple[object, ...], url: str) -> None:
    assert address_of(Bound(name)) == url  # type: ignore[arg-type]  # its name is all that is read


@pytest.mark.skipif(not socket.has_ipv6, reason="this machine has no IPv6")
def test_the_loopback_of_ipv6_is_served_too() -> None:
    try:
        listener = loopback_socket("::1", 0)
    except ApiAddressError as error:
        pytest.skip(str(error))
    with listener:
        assert address_of(listener).startswith("http://[::1]:")
        assert listener.family is socket.AF_INET6
