"""The Prometheus API over HTTP: who we say we are, and what is made of each refusal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from paramedic.ingest.sources.access import HttpAccess
from paramedic.ingest.sources.port import SourceAwayError
from paramedic.ingest.sources.prometheus.client import (
    AnswerTooLargeError,
    PrometheusApi,
    QueryError,
    sorted_by_remedy,
)
from paramedic.ingest.sources.prometheus.configuration import PrometheusSettings
from paramedic.ingest.sources.prometheus.source import PrometheusSource
from servers.exporters import Exporter, exporter
from servers.telemetry_sink import KeepingSink, running

ANSWER = json.dumps(
    {
        "status": "success",
        "data": {
            "resultType": "vector",
            "result": [{"metric": {"instance": "n1:9400"}, "value": [1000.5, "1000.5"]}],
        },
    }
)


@pytest.fixture
def served() -> Iterator[Exporter]:
    with exporter(ANSWER) as one:
        yield one


def api(served: Exporter, access: HttpAccess | None = None, seconds: float = 5) -> PrometheusApi:
    settings = PrometheusSettings(
        f"http://{served.address}/", ("a",), access=access or HttpAccess(), timeout_seconds=seconds
    )
    return PrometheusApi(settings)


def refusal(status: int, message: str) -> Exception:
    body = json.dumps({"status": "error", "errorType": "x", "error": message}).encode()
    return sorted_by_remedy("http://p", f"HTTP Status Code {status} ({body!r})")


def test_an_answer_is_a_list_of_series(served: Exporter) -> None:
    (entry,) = api(served).query("up", 12.0)
    assert entry["metric"] == {"instance": "n1:9400"}
    assert api(served).now_seconds() == 1000.5


def test_tenant_and_password_are_sent(served: Exporter) -> None:
    api(served, HttpAccess(username="ops", password="p", tenant="team-a")).query("up")
    assert served.seen_headers["X-Scope-OrgID"] == "team-a"
    assert served.seen_headers["Authorization"].startswith("Basic ")


def test_a_token_is_not_replaced_by_a_netrc_file(
    served: Exporter, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path_factory.mktemp("home") / "netrc"
    netrc.write_text("default login intruder password x\n")
    monkeypatch.setenv("NETRC", str(netrc))
    api(served, HttpAccess(bearer_token="t")).query("up")
    assert served.seen_headers["Authorization"] == "Bearer t"


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (422, "query processing would load too many samples into memory in query execution"),
        (400, "exceeded maximum resolution of 11,000 points per timeseries. Try decreasing"),
        (503, "query timed out in expression evaluation"),
        (422, "the query hit the max number of series limit"),
        (413, "payload"),
    ],
)
def test_what_is_too_much_can_be_asked_for_in_parts(status: int, message: str) -> None:
    error = refusal(status, message)
    assert isinstance(error, AnswerTooLargeError)
    assert message in str(error)


@pytest.mark.parametrize(
    ("status", "message", "remedy"),
    [
        (400, 'invalid parameter "query": 1:5: parse error', "matchers"),
        (401, "Unauthorized", "token"),
        (403, "no org id", "tenant"),
        (404, "404 page not found", "path prefix"),
    ],
)
def test_what_will_never_work_names_its_remedy(status: int, message: str, remedy: str) -> None:
    error = refusal(status, message)
    assert isinstance(error, QueryError)
    assert message in str(error)
    assert remedy in str(error)


def test_a_page_of_another_server_is_told_in_one_line() -> None:
    body = b"no such\r\npage\n"
    error = sorted_by_remedy("http://p", f"HTTP Status Code 404 ({body!r})")
    assert str(error).startswith("http://p answers with HTTP 404: no such page: check the URL")


def test_json_without_end_is_no_answer() -> None:
    nested = "[" * 100_000
    error = sorted_by_remedy("http://p", f"HTTP Status Code 404 ({nested.encode()!r})")
    assert str(error).startswith("http://p answers with HTTP 404: [[[")
    with exporter(nested) as served, pytest.raises(SourceAwayError, match="no answer of a Prom"):
        api(served).query("up")


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_what_may_pass_is_tried_again(status: int) -> None:
    assert isinstance(refusal(status, "try later"), SourceAwayError)


def test_a_page_that_is_no_prometheus_is_said(served: Exporter) -> None:
    served.page = "<html>hello</html>"
    with pytest.raises(SourceAwayError, match="no answer of a Prometheus"):
        api(served).query("up")
    served.page = '{"status": "success", "data": {"result": []}}'
    with pytest.raises(SourceAwayError, match="no answer of a Prometheus"):
        api(served).now_seconds()


def test_a_refused_connection_is_told_plainly() -> None:
    settings = PrometheusSettings("http://127.0.0.1:1", ("a",))
    with pytest.raises(SourceAwayError, match="Connection refused"):
        PrometheusApi(settings).query("up")


def test_a_slow_answer_is_too_large_but_a_server_without_any_answer_is_away(
    served: Exporter,
) -> None:
    served.delay_seconds = 0.2
    slow = api(served, seconds=0.05)
    with pytest.raises(AnswerTooLargeError, match="in time"):
        slow.query("up")
    with pytest.raises(SourceAwayError, match="in time"):
        slow.now_seconds()


def test_reasons_of_failed_scrapes_are_read_where_the_server_tells_them(served: Exporter) -> None:
    target = {"labels": {"instance": "n7:9400"}, "lastError": "connection refused"}
    served.page = json.dumps({"status": "success", "data": {"activeTargets": [target]}})
    assert api(served).scrape_errors() == {"n7:9400": "connection refused"}
    served.status = 404
    assert api(served).scrape_errors() == {}


def test_a_server_that_refuses_us_from_the_start_ends_the_source(served: Exporter) -> None:
    served.status, served.page = 401, "Unauthorized"
    settings = PrometheusSettings(f"http://{served.address}", ("a",))
    source = PrometheusSource(settings, lambda: 1000.0)
    with pytest.raises(QueryError, match="HTTP 401"):
        source.run(KeepingSink(), NeverStopped())


@pytest.mark.long
def test_one_that_has_nothing_of_what_is_looked_for_says_so(served: Exporter) -> None:
    empty = json.loads(ANSWER)
    empty["data"]["result"][0]["metric"] = {}
    served.page = json.dumps(empty)
    settings = replace(PrometheusSettings(f"http://{served.address}", ("a", "b")), past_seconds=0.0)
    with running(PrometheusSource(settings, lambda: 1000.0)) as run:
        assert run.sink.wait_for(lambda: bool(run.sink.silences))
    assert "no samples of the 2 names looked for" in run.sink.silences[-1][2]


class NeverStopped:
    def is_set(self) -> bool:
        return False

    def wait(self, timeout: float | None = None) -> bool:
        return timeout is None
