"""Files of known errors: what can be said in them, and what is said when they are wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.diagnosis.contract import RecommendedAction, Severity
from paramedic.diagnosis.known_errors.entry import Kind, KnownErrors
from paramedic.diagnosis.known_errors.errors import (
    KnownErrorEntryError,
    KnownErrorsError,
    KnownErrorsFileError,
)
from paramedic.diagnosis.known_errors.reading import (
    known_errors_with,
    read_known_errors,
    shipped_known_errors,
)

PAGE = Path(__file__).parents[3] / "docs" / "known-errors.md"
WHOLE = """
name = "something"
meaning = "It means something."
cause = "hardware"
concerns = "gpu"
fault = "ecc_error"
nvidia = "reset the GPU"
action = "reset_gpu"
severity = "P1"
source = "here"
"""


def laid_over(text: str) -> KnownErrors:
    return read_known_errors(text, "mine.toml", shipped_known_errors())


def test_the_severity_of_a_code_is_overridden_and_the_rest_stays() -> None:
    before = shipped_known_errors().find(Kind.XID, 79)
    after = laid_over('[[xid]]\ncode = 79\nseverity = "P0"\n').find(Kind.XID, 79)
    assert before is not None
    assert after is not None
    assert (before.severity, after.severity) == (Severity.P1, Severity.P0)
    assert (after.name, after.action) == (before.name, before.action)


def test_a_file_laid_over_leaves_what_ships_as_it_was() -> None:
    laid_over('[[xid]]\ncodes = [79, 95]\nseverity = "P0"\n')
    known = shipped_known_errors().find(Kind.XID, 95)
    assert known is not None
    assert known.severity is Severity.P1


def test_a_new_code_is_told_whole() -> None:
    known = laid_over(f"[[xid]]\ncode = 999\n{WHOLE}").find(Kind.XID, 999)
    assert known is not None
    assert known.action is RecommendedAction.RESET_GPU
    assert known.severity_for("nonfatal") is Severity.P1


def test_a_rule_for_a_metric_of_ones_own() -> None:
    text = f'[[metric]]\nid = "mine"\nmetric = "gpu_health"\nat_least = 2\n{WHOLE}'
    (rule,) = read_known_errors(text, "mine.toml").rules()
    assert (rule.metric, rule.at_least) == ("gpu_health", 2.0)


def test_codes_that_are_no_numbers_are_not_known() -> None:
    known = shipped_known_errors()
    assert [known.find(Kind.XID, code) for code in (True, "79", 79.0, None, 100_000)] == [None] * 5


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[[xid]]\ncode = 79\nseverity = "P7"', "79: severity = 'P7': needs one of P0, P1, P2"),
        ('[[xid]]\ncode = 79\nfault = "gremlins"', "79: fault = 'gremlins': needs one of ecc_e"),
        ('[[xid]]\ncode = 79\nname = ""', "79: name = '': needs some text"),
        ('[[xid]]\ncode = 79\nserverity = "P1"', "79: 'serverity' is no field"),
        ('[[xid]]\ncode = 998\nseverity = "P1"', "998: is new here, so it needs the field 'name'"),
        ('[[xid]]\ncode = "79"', "code = ['79']: needs code = 79"),
        ("[[xid]]\ncodes = []", "code = []: needs code = 79"),
        ("[[xid]]\ncode = 79\n[[xid]]\ncodes = [78, 79]", "79: is there twice"),
        ('[[xid]]\ncode = 79\nseverity = "none"', "action = 'reboot_node' with severity = 'none'"),
        ('[[xid]]\ncode = 79\nmetric = "x"', "metric = 'x': only a [[metric]] has one"),
        ('[[xid]]\ncode = 144\nseverity_if = "P1"', "severity_if = 'P1': needs words"),
        ('[[xid]]\ncode = 144\nseverity_if = { fatal = 1 }', "severity_if.fatal = 1: needs one"),
        ('[[metric]]\nid = "row_remap_failed"\nat_least = 0', "at_least = 0: needs a number above"),
        ("[[metric]]\nat_least = 1", "id = None: needs some text"),
        (f'[[metric]]\nid = "mine"\n{WHOLE}', "needs the field 'metric'"),
    ],
)  # fmt: skip
def test_a_wrong_entry_is_told_with_file_field_value_and_remedy(text: str, told: str) -> None:
    with pytest.raises(KnownErrorEntryError, match=r"^known errors: mine\.toml: ") as error:
        laid_over(text)
    assert told in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[xid", "is not TOML"),
        ("xid = 79", "'xid' is no list of known errors: use [[xid]]"),
        ("[[xyd]]\ncode = 79", "'xyd' is no list of known errors"),
    ],
)
def test_a_file_that_is_none_is_told(text: str, told: str) -> None:
    with pytest.raises(KnownErrorsFileError) as error:
        laid_over(text)
    assert told in str(error.value)


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(KnownErrorsFileError, match="cannot be read"):
        known_errors_with(tmp_path / "nowhere.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(KnownErrorsFileError, match="UTF-8"):
        known_errors_with(tmp_path / "bytes.toml")


def test_a_users_file_is_read_from_its_place(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[[sxid]]\ncode = 12028\nseverity = "P1"\n', encoding="utf-8")
    known = known_errors_with(file).find(Kind.SXID, 12028)
    assert known is not None
    assert known.severity is Severity.P1
    assert known_errors_with(None) is shipped_known_errors()


def test_the_example_of_the_documentation_can_be_laid_over_what_ships() -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    read = laid_over(example)
    assert read.find(Kind.XID, 173) is not None
    assert [one.at_least for one in read.rules() if "repeated" in one.key] == [10.0]


FIELDS = ("name", "cause", "severity", "action", "at_least", "severity_if", "metric", "code", "id")
VALUES = st.one_of(
    st.integers(-5, 200), st.sampled_from(["P1", "none", "hardware", "79", ""]), st.booleans()
)


@given(
    table=st.sampled_from(["xid", "sxid", "metric", "recovery_action", "other"]),
    fields=st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=4),
)
def test_whatever_stands_in_a_file_is_read_or_refused_in_one_line(
    table: str, fields: dict[str, int | str | bool]
) -> None:
    lines = [f"{name} = {_toml(value)}" for name, value in fields.items()]
    told = ""
    try:
        laid_over("\n".join([f"[[{table}]]", *lines]))
    except KnownErrorsError as error:
        told = str(error)
    assert told == "" or told.startswith("known errors: mine.toml")
    assert "\n" not in told


def _toml(value: int | str | bool) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()
