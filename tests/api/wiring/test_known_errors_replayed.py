"""Known errors from a recording's columns and events to what `paramedic replay` prints."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from ingest.recordings.recorded import JOB, Row, describe, gpu_row, moment, write_events, write_rows
from paramedic.api.settings.reading import parse_assignment, read_settings
from paramedic.api.wiring.replay import ReplayRequest, replay

SECONDS = 90
Column = dict[int, float]
"""The value from this second on, of GPU 1 on node b."""


def recorded(
    folder: Path, columns: Mapping[str, Column], events: Sequence[dict[str, object]] = ()
) -> Path:
    """Two nodes of two GPUs, of which one shows something."""
    describe(folder)
    write_rows(folder, "gpu", [_row(at, node, gpu, columns) for at in range(SECONDS)
               for node in "ab" for gpu in (0, 1)])  # fmt: skip
    if events:
        write_events(folder, *({"job": JOB, "node": "b", "gpu": 1} | one for one in events))
    return folder


def _row(at: int, node: str, gpu: int, columns: Mapping[str, Column]) -> Row:
    is_it = (node, gpu) == ("b", 1)
    shown = {
        metric: next((v for since, v in reversed(course.items()) if at >= since and is_it), 0.0)
        for metric, course in columns.items()
    }
    return gpu_row(at, node, gpu) | shown


def xid(at: float, code: int, **more: object) -> dict[str, object]:
    return {"timestamp": moment(at).isoformat(), "kind": "xid", "xid": code, **more}


def printed(folder: Path, *assignments: str) -> list[dict[str, Any]]:
    """What a replay prints, but for the ends of what it prints."""
    settings = read_settings(folder, {}, dict(map(parse_assignment, assignments)))
    stdout = io.StringIO()
    replay(ReplayRequest(folder), settings, stdout, io.StringIO())
    lines = [json.loads(line) for line in stdout.getvalue().splitlines()]
    return [line for line in lines if line["status"] != "resolved"]


def told(verdict: Mapping[str, Any]) -> tuple[str, str, int, str, str]:
    action = verdict["action"]["recommended"]
    return verdict["fault"], verdict["node"], verdict["gpu"], verdict["severity"], action


def test_a_change_of_the_gauge_is_a_verdict_and_what_stood_before_is_none(tmp_path: Path) -> None:
    history = recorded(tmp_path / "old", {"gpu_xid": {0: 79}})
    assert printed(history) == []
    (verdict,) = printed(recorded(tmp_path / "new", {"gpu_xid": {0: 63, 40: 79}}))
    assert told(verdict) == ("gpu_card_drop", "b", 1, "P1", "reboot_node")
    assert verdict["tier"] == "known_error"
    assert verdict["detected_at"].startswith("2026-01-01T00:00:40")


def test_what_the_driver_asks_for_goes_before_the_code_in_every_way_it_is_told(
    tmp_path: Path,
) -> None:
    gauges: dict[str, Column] = {"gpu_xid": {40: 79}, "gpu_recovery_action": {42: 1}}
    by_gauge = printed(recorded(tmp_path / "gauge", gauges))
    asked = [xid(40, 79), xid(42, 154, recovery_action=1)]
    by_event = printed(recorded(tmp_path / "event", {}, asked))
    for first, last in (by_gauge, by_event):
        assert told(first)[4] == "reboot_node"
        assert told(last) == ("gpu_card_drop", "b", 1, "P1", "reset_gpu")
        assert first["id"] == last["id"]


@pytest.mark.parametrize("code", [173, 999, 45, 154])
def test_an_unknown_or_harmless_code_never_acts(tmp_path: Path, code: int) -> None:
    assert printed(recorded(tmp_path / "a", {"gpu_xid": {40: code}}, [xid(50, code)])) == []


def test_the_severity_of_a_code_is_what_the_users_file_says(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text('[[xid]]\ncode = 79\nseverity = "P0"\n\n[[xid]]\ncode = 95\n'
                    'severity = "none"\naction = "none"\n')  # fmt: skip
    own = f"detection.known_errors_file={file}"
    grave = recorded(tmp_path / "grave", {"gpu_xid": {40: 79}})
    quiet = recorded(tmp_path / "quiet", {"gpu_xid": {40: 95}})
    (verdict,) = printed(grave, own)
    assert (verdict["severity"], len(printed(quiet))) == ("P0", 1)
    assert printed(quiet, own) == []


@pytest.mark.parametrize(("metric", "value"), [("gpu_health", 20.0), ("gpu_unhealthy", 1.0)])
def test_what_an_exporter_calls_failed_is_to_be_tested(
    tmp_path: Path, metric: str, value: float
) -> None:
    (verdict,) = printed(recorded(tmp_path / "a", {metric: {40: value}}))
    assert told(verdict) == ("gpu_execution_error", "b", 1, "P1", "run_test")
