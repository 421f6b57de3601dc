"""Saved answers of the Prometheus API become pages, one a moment."""

from __future__ import annotations

import json

import pytest

from paramedic.ingest.contract import ContractError
from paramedic.ingest.exposition.query_answer import pages_of_answer


def answer(*entries: dict[str, object]) -> str:
    return json.dumps({"status": "success", "data": {"resultType": "x", "result": entries}})


def test_an_instant_answer_is_one_page() -> None:
    text = answer(
        {"metric": {"__name__": "m", "gpu": "1"}, "value": [100.5, "2"]},
        {"metric": {"__name__": "m", "gpu": "2"}, "value": [100.5, "NaN"]},
    )
    (page,) = pages_of_answer(text, "saved.json")
    assert [(one.name, dict(one.labels)) for one in page.series] == [
        ("m", {"gpu": "1"}),
        ("m", {"gpu": "2"}),
    ]
    assert page.values[0] == 2.0
    assert (page.taken_seconds, page.is_whole) == (100.5, False)


def test_a_range_is_one_page_a_moment_oldest_first_with_the_same_series() -> None:
    text = answer(
        {"metric": {"__name__": "a"}, "values": [[10, "1"], [20, "2"]]},
        {"metric": {"__name__": "b"}, "values": [[20, "3"]]},
    )
    first, second = pages_of_answer(text, "saved.json")
    assert (first.taken_seconds, list(first.values)) == (10.0, [1.0])
    assert (second.taken_seconds, list(second.values)) == (20.0, [2.0, 3.0])
    assert second.series[0] is first.series[0]


def test_texts_that_are_no_numbers_are_counted_and_histograms_left_out() -> None:
    text = answer(
        {"metric": {"__name__": "a"}, "value": [10, "ERROR"]},
        {"metric": {"__name__": "h"}, "histogram": [10, {}]},
    )
    (page,) = pages_of_answer(text, "saved.json")
    assert (list(page.values), dict(page.unreadable)) == ([], {"not_a_number": 1})


def test_an_answer_without_series_has_no_pages() -> None:
    assert pages_of_answer(answer(), "saved.json") == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "its JSON cannot be read at line 1"),
        ("[" * 100000, "its JSON cannot be read"),
        ("[]", "it is no JSON object"),
        ('{"data": {}}', "it has no list of series as data.result"),
        ('{"data": {"result": [1]}}', "series 1 has no labels as metric"),
        ('{"data": {"result": [{"metric": {}, "values": 1}]}}', "series 1 has no list as values"),
        ('{"data": {"result": [{"metric": {}, "value": [1]}]}}', "is no pair of a time and a"),
        ('{"data": {"result": [{"metric": {}, "value": ["soon", "1"]}]}}', "none of its samples"),
        ('{"data": {"result": [{"metric": {}, "value": [1e400, "1"]}]}}', "none of its samples"),
        ('{"data": {"resultType": "scalar", "result": [1, "2"]}}', "its result is a scalar"),
    ],
)
def test_what_is_no_answer_with_series_is_refused_in_plain_words(text: str, words: str) -> None:
    with pytest.raises(ContractError, match="not an answer") as caught:
        pages_of_answer(text, "saved.json")
    assert words in str(caught.value)
    assert "Error" not in str(caught.value)


def test_an_error_of_prometheus_is_passed_on() -> None:
    text = '{"status":"error","errorType":"bad","error":"boom"}'
    with pytest.raises(ContractError) as caught:
        pages_of_answer(text, "saved.json")
    assert str(caught.value) == "saved.json: Prometheus answered with the error boom (bad)"


@pytest.mark.parametrize("time", ["1e400", "NaN", "-1", "1e30", '"soon"', "null", "9" * 400])
def test_a_sample_whose_time_is_none_is_counted_and_costs_only_itself(time: str) -> None:
    text = '{"data":{"result":[{"metric":{},"values":[[TIME,"1"],[10,"2"]]}]}}'
    (page,) = pages_of_answer(text.replace("TIME", time), "saved.json")
    assert (page.taken_seconds, list(page.values)) == (10.0, [2.0])
    assert page.unreadable == {"bad_time": 1}
