"""Pages of any quality: good lines are read, a bad line costs itself and nothing else."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.ingest.contract import NodeName
from paramedic.ingest.exposition.parser import ExpositionParser
from paramedic.ingest.sources.port import RawPage

GPU = 'DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-1"}'
NAMES = st.from_regex(r"[a-zA-Z_:][a-zA-Z0-9_:]{0,8}", fullmatch=True)
LABELS = st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_]{0,8}", fullmatch=True)
FLOATS = st.floats(allow_nan=False)


def parsed(text: str | bytes) -> RawPage:
    return ExpositionParser("test").parse(text, 100.0)


def sample(line: str) -> tuple[str, dict[str, str], float]:
    page = parsed(line + "\n")
    assert len(page.series) == 1, page.unreadable
    return page.series[0].name, dict(page.series[0].labels), page.values[0]


def test_a_page_is_series_and_values_in_their_order() -> None:
    page = ExpositionParser("http://n1:9400", NodeName("n1")).parse(
        '# HELP a Help.\n# TYPE a gauge\na 1\n# HELP b B.\nb{gpu="0"} 2.5\na{x="y"} -3e4\n', 7.5
    )
    assert [(one.name, dict(one.labels)) for one in page.series] == [
        ("a", {}),
        ("b", {"gpu": "0"}),
        ("a", {"x": "y"}),
    ]
    assert list(page.values) == [1.0, 2.5, -3e4]
    assert (page.origin, page.taken_seconds, page.default_node) == ("http://n1:9400", 7.5, "n1")
    assert page.is_whole
    assert not page.unreadable


@pytest.mark.parametrize(
    ("text", "value"),
    [("+Inf", math.inf), ("-Inf", -math.inf), ("1e3", 1000.0), ("0", 0.0), ("-0.5", -0.5)],
)
def test_values_of_every_form_are_numbers(text: str, value: float) -> None:
    assert sample(f"{GPU} {text}")[2] == value


def test_nan_is_handed_on_for_the_cleaner_to_count() -> None:
    assert math.isnan(sample(f"{GPU} NaN")[2])


@pytest.mark.parametrize(
    "line",
    [
        f"{GPU} 12 1700000000000",
        f"{GPU}   12",
        f"{GPU}\t12",
        f"{GPU} 12\r",
        f"  {GPU} 12",
        f'{GPU} 12 # {{trace_id="ab c"}} 0.67 1700000000.0',
        'DCGM_FI_DEV_POWER_USAGE {gpu="0",UUID="GPU-1"} 12',
        'DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-1",} 12',
        'DCGM_FI_DEV_POWER_USAGE{ gpu = "0" , UUID="GPU-1" } 12',
        '{"DCGM_FI_DEV_POWER_USAGE",gpu="0",UUID="GPU-1"} 12',
        '{"DCGM_FI_DEV_POWER_USAGE","gpu"="0",UUID="GPU-1"} 12',
    ],
)
def test_spaces_timestamps_exemplars_and_quoted_names_change_nothing(line: str) -> None:
    assert sample(line) == ("DCGM_FI_DEV_POWER_USAGE", {"gpu": "0", "UUID": "GPU-1"}, 12.0)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"say \"hi\"", 'say "hi"'),
        ('say "hi" to', 'say "hi" to'),
        ('ends with "', 'ends with "'),
        (r"C:\\dir", "C:\\dir"),
        (r"C:\dir", "C:\\dir"),
        (r"two\nlines", "two\nlines"),
        ("} 5", "} 5"),
        ('{"a": "b, c"}', '{"a": "b, c"}'),
        ("a,b={}", "a,b={}"),
        ("# {x}", "# {x}"),
        ("größer", "größer"),
        ("", ""),
    ],
)
def test_label_values_are_read_escaped_or_not(written: str, meant: str) -> None:
    assert sample(f'm{{pod="{written}",gpu="1"}} 4') == ("m", {"pod": meant, "gpu": "1"}, 4.0)
    assert sample(f'm{{gpu="1",pod="{written}"}} 4') == ("m", {"gpu": "1", "pod": meant}, 4.0)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (f"{GPU} ERROR - FAILED TO CONVERT TO STRING", "not_a_number"),
        (f"{GPU} <<<NULL>>>", "not_a_number"),
        (GPU, "no_value"),
        ('m{gpu="0" 4', "bad_labels"),
        ("m{gpu=0} 4", "bad_labels"),
        ('m{gpu="0', "bad_labels"),
        ("{} 4", "bad_name"),
        ("4 4", "bad_name"),
        ("= 4", "bad_name"),
        ("name", "no_value"),
    ],
)
def test_a_bad_line_costs_itself_only(line: str, reason: str) -> None:
    page = parsed(f"a 1\n{line}\nb 2\n")
    assert [one.name for one in page.series] == ["a", "b"]
    assert page.unreadable == {reason: 1}


def test_a_known_series_without_a_value_is_counted() -> None:
    parser = ExpositionParser("test")
    parser.parse(f"{GPU} 1\nb 2\n", 1.0)
    page = parser.parse(f"{GPU}\nb\n", 2.0)
    assert page.unreadable == {"no_value": 2}


def test_a_known_series_with_a_text_for_a_value_is_counted_too() -> None:
    parser = ExpositionParser("test")
    parser.parse(f"{GPU} 1\nb 2\n", 1.0)
    page = parser.parse(f"{GPU} ERROR\nb 3\n", 2.0)
    assert page.unreadable == {"not_a_number": 1}
    assert list(page.values) == [3.0]


@pytest.mark.parametrize("text", ["", "\n\n", "# EOF\n", "# HELP x y\r\n", "  \n\t\n"])
def test_a_page_without_samples_is_empty_and_not_wrong(text: str) -> None:
    page = parsed(text)
    assert (list(page.series), dict(page.unreadable)) == ([], {})


def test_repeated_comments_and_the_end_mark_are_passed_over() -> None:
    page = parsed('# TYPE a gauge\na 1\n# TYPE a counter\n# HELP a again\na{x="1"} 2\n# EOF\n')
    assert list(page.values) == [1.0, 2.0]


def test_bytes_that_are_no_text_cost_nothing_but_their_letters() -> None:
    page = parsed(b'm{pod="caf\xe9"} 1\nb 2\n')
    assert list(page.values) == [1.0, 2.0]


def test_unchanged_series_are_the_very_same_list() -> None:
    parser = ExpositionParser("test")
    first = parser.parse(f"{GPU} 1\nb 2\n", 1.0)
    second = parser.parse(f"{GPU} 5\nb 6\n".encode(), 2.0)
    assert second.series is first.series
    assert list(second.values) == [5.0, 6.0]


def test_series_keep_their_identity_when_others_come_and_go() -> None:
    parser = ExpositionParser("test")
    first = parser.parse("a 1\nb 2\n", 1.0)
    second = parser.parse("b 2\n", 2.0)
    third = parser.parse("a 1 1700000000\nb 3\n", 3.0)
    assert second.series[0] is first.series[1]
    assert third.series[0] is first.series[0]


def test_series_that_left_are_forgotten_before_they_fill_the_memory() -> None:
    parser = ExpositionParser("test", spare_series=40)
    for turn in range(30):
        churn = "".join(f'm{{pod="{turn}-{n}"}} 1\n' for n in range(10))
        parser.parse(f"stays 1\n{churn}", float(turn))
        assert len(parser._known) <= 2 * 11 + 40
    assert parser.parse("stays 1\n", 99.0).series[0] is parser._known["stays"]


@pytest.mark.long
@given(NAMES, st.dictionaries(LABELS, st.text(max_size=12), max_size=4), FLOATS)
def test_what_a_careful_exporter_writes_is_read_as_it_was_meant(
    name: str, labels: dict[str, str], value: float
) -> None:
    def escaped(text: str) -> str:
        return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")

    said = ",".join(f'{label}="{escaped(text)}"' for label, text in labels.items())
    line = f"{name}{{{said}}} {value!r}"
    assert sample(line) == (name, labels, value)


@given(st.text(max_size=80), st.text(max_size=80))
def test_no_text_breaks_the_page_around_it(before: str, after: str) -> None:
    page = parsed(f"{before}\nmetric 1.5\n{after}\n")
    assert ("metric", 1.5) in [
        (one.name, value) for one, value in zip(page.series, page.values, strict=True)
    ]


@given(st.binary(max_size=200))
def test_no_bytes_break_the_parser(page: bytes) -> None:
    read = parsed(page)
    assert len(read.series) == len(read.values)


@pytest.mark.parametrize("stamp", ["NaN", "99999999999999999999", "-1", "inf", "soon", "1e400"])
def test_a_sample_whose_timestamp_is_no_time_is_counted_and_left_out(stamp: str) -> None:
    parser = ExpositionParser("here")
    for _again in range(2):  # the second time the series is known
        page = parser.parse(f"m 1\nm 2 {stamp}\nn 3 1767225600000\no 4 1767225600.5\n", 0.0)
        assert list(page.values) == [1.0, 3.0, 4.0]
        assert page.unreadable == {"bad_time": 1}
