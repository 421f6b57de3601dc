"""The summary reaches scripts as JSON and people as a table."""

from __future__ import annotations

import io
import json

from paramedic.api.demo.report import write_json, write_reasons, write_table
from paramedic.api.demo.summary import Summary

SUMMARY = Summary(
    fault="kill",
    rank_hit=2,
    rank_named=None,
    seconds_to_detect=0.2,
    seconds_to_localise=0.2,
    seconds_to_recover=0.9,
    steps_lost=0,
    goodput=0.98,
    loss_curve_identical=True,
    steps=400,
    wrong_verdicts=0,
)


def test_json_is_one_object_on_one_line() -> None:
    out = io.StringIO()
    write_json(SUMMARY, out)
    assert out.getvalue().count("\n") == 1
    assert json.loads(out.getvalue()) == SUMMARY.to_dict()
    assert json.loads(out.getvalue())["rank_named"] is None


def test_the_table_holds_every_field_in_words() -> None:
    out = io.StringIO()
    write_table(SUMMARY, (), out)
    shown = out.getvalue()
    for words in ("rank hit", "none", "yes", "0.98", "400", "everything held"):
        assert words in shown


def test_each_reason_has_its_line() -> None:
    out = io.StringIO()
    write_reasons(("one", "two"), out)
    assert out.getvalue() == "did not hold: one\ndid not hold: two\n"
