"""A request for sources goes through flags to a process of ours and arrives as it was."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.api.command_line.parser import build_parser
from paramedic.api.command_line.source_flags import source_request
from paramedic.api.command_line.surroundings import Surroundings
from paramedic.api.command_line.verbs import Call
from paramedic.api.settings.schema import Settings
from paramedic.api.wiring.source_request import AccessRequest, SourceRequest

PARSER = build_parser()
WORD = st.text("abcXYZ019./:=_", min_size=1, max_size=8)
FILE = WORD.map(Path)


def optional(values: st.SearchStrategy[str] | st.SearchStrategy[Path]) -> st.SearchStrategy[object]:
    return st.none() | values


ACCESS = st.builds(
    AccessRequest,
    ca_file=optional(FILE), certificate_file=optional(FILE), key_file=optional(FILE),
    tenant=optional(WORD), verify=st.booleans(), token_file=optional(FILE),
)  # fmt: skip
SOURCES = st.builds(
    SourceRequest,
    prometheus=st.none() | WORD.map(lambda word: f"http://{word}"),
    matchers=st.just("") | WORD,
    exporters=optional(FILE),
    kernel_logs=st.lists(WORD, max_size=3).map(tuple),
    nvml=st.booleans(),
    access=ACCESS,
)


def asked(flags: tuple[str, ...]) -> SourceRequest:
    around = Surroundings(Path("/"), {}, io.StringIO(), io.StringIO())
    return source_request(Call(PARSER.parse_args(["collect", *flags]), None, Settings(), around))


@given(SOURCES)
def test_whatever_is_asked_for_arrives(request: SourceRequest) -> None:
    assert asked(request.flags()) == request


@given(SOURCES, st.lists(WORD, min_size=1, max_size=3).map(tuple))
def test_topics_arrive_with_their_cluster_and_format(
    request: SourceRequest, topics: tuple[str, ...]
) -> None:
    with_topics = replace(request, kafka="b:1", topics=topics, topic_format="telegraf")
    assert asked(with_topics.flags()) == with_topics


@given(SOURCES)
def test_without_any_source_it_is_empty_and_says_so(request: SourceRequest) -> None:
    named = (request.prometheus, request.exporters, request.nvml, request.kernel_logs)
    assert request.is_empty == (not any(named))


@given(SOURCES, WORD)
def test_secrets_of_the_environment_are_in_no_flag_and_no_text(
    request: SourceRequest, word: str
) -> None:
    secret = f"<{word}>"
    with_secret = replace(request, environment={"PARAMEDIC_SOURCE_TOKEN": secret})
    assert secret not in repr(with_secret)
    assert secret not in " ".join(with_secret.flags())


def test_a_cluster_without_topics_is_no_source_and_is_not_passed_on() -> None:
    request = SourceRequest(kafka="b:1")
    assert request.is_empty
    assert request.flags() == ()


@pytest.mark.parametrize("value", ["-", "--prometheus", "-x"])
def test_a_value_that_looks_like_a_flag_does_not_become_one(value: str) -> None:
    request = SourceRequest(prometheus="http://p", matchers=value)
    assert asked(request.flags()).matchers == value
