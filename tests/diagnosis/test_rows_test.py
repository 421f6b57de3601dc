"""Rows of one kind: what of a window is weighed, with whom a row is compared, at which level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from diagnosis.synthetic import JOB, event
from paramedic.diagnosis.evidence import Evidence, level_nats
from paramedic.diagnosis.roles import JobRoles
from paramedic.diagnosis.rows_test import RowsTest
from paramedic.diagnosis.settings import DepartureSettings
from paramedic.ingest.contract import Entity, EntityKey, Event, EventKind, NodeName, Window
from paramedic.models.departure.model import DepartureConfig

METRICS = ("gpu_power_watts", "gpu_xid", "gpu_tensor_active_ratio", "made_up_total")
SOON = DepartureSettings(settle_seconds=3, smoothing_seconds=(1.0, 6.0))
ROWS = tuple(EntityKey(Entity.GPU, NodeName(f"n{at // 2}"), at % 2) for at in range(24))


def rows_test() -> RowsTest:
    paces = SOON.smoothing_seconds
    return RowsTest(DepartureConfig(smoothing_seconds=paces).build(), Evidence(len(paces)))


def window(second: int, odd: Sequence[int] = (), share: float = 0.4, width: int = 1) -> Window:
    """A slot in which these rows do so much less of everything."""
    values = np.random.default_rng(second).normal(1, 0.02, (len(ROWS), len(METRICS), 1))
    values *= np.array([400.0, 0.0, 0.4, 1.0])[:, None]
    values[list(odd)] *= share
    there = np.ones(values.shape, np.bool_)
    slot = values.astype(np.float32)
    return Window(JOB, 0, Entity.GPU, second, ROWS, METRICS, slot, there, width)


def after(slots: int, odd: Sequence[int] = (), roles: JobRoles | None = None) -> RowsTest:
    """Odd rows are so for the last ten slots."""
    test = rows_test()
    for second in range(slots):
        seen = window(second, odd if second >= slots - 10 else ())
        test.weigh(seen, roles, len(ROWS), SOON)
    return test


def joins(node: int, stage: int) -> Event:
    told = event(EventKind.MEMBERSHIP, 0.0, NodeName(f"n{node}"), None)
    return replace(told, details={"change": "joined", "pipeline_stage": stage})


def in_stages(of_each: int, nodes: int = 12) -> JobRoles:
    roles = JobRoles(JOB)
    for node in range(nodes):
        roles.hear(joins(node, stage=node // of_each))
    return roles


def test_the_row_that_departs_has_the_evidence() -> None:
    strength = after(50, odd=[5]).evidence.strength
    assert int(strength.argmax()) == 5
    assert strength[5] >= 1
    assert np.delete(strength, 5).max() < 0.5


@pytest.mark.parametrize(("tests", "width"), [(100, 1), (10_000, 1), (100, 15)])
def test_the_level_follows_from_the_stated_rate_over_all_tests_and_paces(
    tests: int, width: int
) -> None:
    test = rows_test()
    test.weigh(window(0, width=width), None, tests, SOON)
    stated = level_nats(SOON.false_alarms_per_job_day, tests * len(SOON.smoothing_seconds), width)
    assert stated <= test.evidence.level <= stated * 1.005
    assert test.slot_seconds == width


def test_codes_and_unknown_totals_are_not_compared() -> None:
    slot = after(1).slot
    assert slot is not None
    assert slot.metrics == ("gpu_power_watts", "gpu_tensor_active_ratio")


def test_what_is_no_number_counts_as_not_observed() -> None:
    test, seen = rows_test(), window(0)
    seen.values[3, 0] = np.inf
    seen.values[4, 0] = np.nan
    observed = seen.observed.copy()
    observed[5, 0] = False
    test.weigh(replace(seen, observed=observed), None, len(ROWS), SOON)
    assert test.slot is not None
    assert np.flatnonzero(~test.slot.known[0]).tolist() == [3, 4, 5]
    assert test.slot.known[1].all()


def test_rows_of_a_node_share_a_host() -> None:
    hosts = rows_test().hosts_of(ROWS)
    assert len(hosts.seats) == 12
    assert hosts.members(3).tolist() == [6, 7]


def test_peers_are_the_rows_of_the_same_stage() -> None:
    circles = rows_test().peers_of(ROWS, in_stages(of_each=6))
    assert circles is not None
    assert circles.members(1).tolist() == list(range(12, 24))


def test_without_roles_or_with_few_of_a_role_all_are_peers() -> None:
    test = rows_test()
    assert test.peers_of(ROWS, None) is None
    assert test.peers_of(ROWS, in_stages(of_each=2)) is None
    assert test.peers_of(ROWS, in_stages(of_each=12)) is None


def test_of_two_nodes_in_a_stage_nobody_can_tell_which_departs_so_all_are_peers() -> None:
    rows = tuple(
        EntityKey(Entity.GPU, NodeName(f"n{node}"), card) for node in range(6) for card in range(4)
    )
    assert rows_test().peers_of(rows, in_stages(of_each=2, nodes=6)) is None
    assert rows_test().peers_of(rows, in_stages(of_each=3, nodes=6)) is not None


@pytest.mark.parametrize("roles", [in_stages(of_each=6), None])
def test_who_works_like_another_stage_departs_from_its_own(roles: JobRoles | None) -> None:
    test = rows_test()
    for second in range(50):
        odd = [*range(12, 24), *([5] if second >= 40 else [])]
        test.weigh(window(second, odd), roles, len(ROWS), SOON)
    decided = np.flatnonzero(test.evidence.strength >= 1).tolist()
    assert decided == ([] if roles is None else [5])


def test_circles_are_drawn_again_when_roles_change() -> None:
    test, roles = rows_test(), in_stages(of_each=6)
    assert test.peers_of(ROWS, roles) is test.peers_of(ROWS, roles)
    roles.hear(joins(0, stage=1))
    circles = test.peers_of(ROWS, roles)
    assert circles is not None
    assert sorted(len(circles.members(at)) for at in range(2)) == [10, 14]


def test_when_the_job_begins_to_do_something_else_all_settle_again() -> None:
    test, patient, turned = after(50, odd=[5]), replace(SOON, settle_seconds=20), []
    for second in range(50, 60):
        seen = window(second, odd=[5])
        test.weigh(replace(seen, values=seen.values * 3), None, len(ROWS), patient)
        turned.append(test.slot is not None and test.slot.has_turned)
    assert turned.count(True) == 1
    assert test.evidence.strength.max() == 0


def test_a_restart_forgets_the_evidence_and_not_the_machines() -> None:
    test = after(50, odd=[5])
    test.restart()
    assert test.evidence.strength.max() == 0
    assert test.evidence.rows == ROWS


def test_what_a_slot_is_judged_by_changes_with_what_is_asked() -> None:
    test = after(30)
    usual = test.evidence.level
    test.weigh(window(30), None, 10 * len(ROWS), SOON)
    assert test.evidence.level > usual
    test.weigh(window(31), None, len(ROWS), replace(SOON, false_alarms_per_job_day=1e-6))
    assert test.evidence.level > usual
    test.weigh(window(32), None, len(ROWS), SOON)
    assert test.evidence.level == pytest.approx(usual)


@pytest.mark.parametrize("width", [15, 30])
def test_one_sample_of_what_a_card_does_is_no_more_than_a_sample(width: int) -> None:
    """Where in the step it was taken is chance: where no other metric says it, some have to."""
    test, named = rows_test(), 0
    for slot in range(60):
        seen = window(slot * width, width=width)
        if slot >= 45:
            seen.values[5, METRICS.index("gpu_tensor_active_ratio")] *= 0.3
        test.weigh(seen, None, len(ROWS), SOON)
        if not named and test.evidence.strength[5] >= 1:
            named = slot - 44
    assert 4 <= named <= 8
