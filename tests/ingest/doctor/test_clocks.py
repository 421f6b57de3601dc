"""Clocks of hosts are compared with each other, never with ours."""

from __future__ import annotations

import pytest

from ingest.doctor.looked import Exporters, checks_of, report, seen_after
from paramedic.ingest.doctor.checks import Level


def hosts(*ahead: float) -> list[str]:
    return [f"n{number}" for number in range(len(ahead))]


@pytest.mark.parametrize("everybody", [0.0, -3600.0, 12.5])
def test_what_all_have_in_common_cancels_out(everybody: float) -> None:
    ahead = (0.0, 0.3, 7.0, -0.2, 0.1)
    exporters = Exporters()
    pages = [
        exporters.host(node, ahead_seconds=everybody + by)
        for node, by in zip(hosts(*ahead), ahead, strict=True)
    ]
    offsets = seen_after(*pages).clocks.offsets()
    assert {node: round(by, 1) for node, by in offsets.items()} == {
        "n0": -0.1, "n1": 0.2, "n2": 6.9, "n3": -0.3, "n4": 0.0
    }  # fmt: skip


def test_a_clock_that_is_off_is_named_with_its_offset() -> None:
    exporters = Exporters()
    pages = [exporters.host(f"n{at}", ahead_seconds=9.0 * (at == 3)) for at in range(4)]
    (check,) = checks_of(report(exporters.gpus(), *pages), "clocks")
    assert check.level is Level.WARNING
    assert "n3 by +9.0 s" in check.text
    assert check.remedies


def test_clocks_that_agree_are_fine_and_without_node_exporter_nothing_is_claimed() -> None:
    exporters = Exporters()
    together = report(exporters.gpus(), exporters.host("n1"), exporters.host("n2"))
    (check,) = checks_of(together, "clocks")
    assert (check.level, "2 hosts within 2 s" in check.text) == (Level.OK, True)
    (alone,) = checks_of(report(exporters.gpus()), "clocks")
    assert (alone.level, "not measured" in alone.text) == (Level.OK, True)
