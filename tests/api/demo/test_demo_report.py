"""The summary reaches scripts as JSON and people as a table."""

from __future__ import annotations

import io
import json
from dataclasses import replace

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


def shown(summary: Summary) -> dict[str, str]:
    """The table's rows, read as a person would."""
    out = io.StringIO()
    write_table(summary, (), out)
    lines = [line.strip() for line in out.getvalue().splitlines()]
    rows = [line.rsplit("  ", 1) for line in lines if "  " in line]
    return {label.strip(): value.strip() for label, value in rows}


def test_the_table_holds_every_field_in_words() -> None:
    assert shown(SUMMARY) == {
        "measured": "value",
        "fault": "kill",
        "rank hit": "2",
        "rank named": "–",
        "detected after": "0.20 s",
        "localised after": "0.20 s",
        "recovered after": "0.90 s",
        "steps lost": "0",
        "goodput": "98.0%",
        "loss curve identical": "yes",
        "steps": "400",
        "wrong verdicts": "0",
    }


def test_a_run_that_showed_nothing_has_dashes_and_no_zeros() -> None:
    nothing = Summary("none", *(None,) * 8, steps=12, wrong_verdicts=0)
    rows = shown(nothing)
    assert {label for label, value in rows.items() if value == "–"} == {
        "rank hit",
        "rank named",
        "detected after",
        "localised after",
        "recovered after",
        "steps lost",
        "goodput",
        "loss curve identical",
    }
    assert shown(replace(SUMMARY, loss_curve_identical=False))["loss curve identical"] == "no"


def test_below_the_table_it_is_said_whether_everything_held() -> None:
    out = io.StringIO()
    write_table(SUMMARY, (), out)
    assert out.getvalue().endswith("everything held\n")


def test_each_reason_has_its_line() -> None:
    out = io.StringIO()
    write_reasons(("one", "two"), out)
    assert out.getvalue() == "did not hold: one\ndid not hold: two\n"
