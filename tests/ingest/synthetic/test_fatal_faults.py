"""When a machine stops for good: who waits, who exits, and what the job does then."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from ingest.synthetic.clusters import QUICK, configured
from paramedic.ingest.contract import Entity, Event, EventKind, NodeName
from paramedic.ingest.synthetic.cluster import SyntheticCluster
from paramedic.ingest.synthetic.faults.plan import FaultPlan, Stop, StopKind, Symptom
from paramedic.ingest.synthetic.reading import Second

pytestmark = pytest.mark.long

STOPS, ABORTS, RESTARTS, END = 14, 34, 38, 54
STOPPED, WAITING = (1, 2), (0, 0)
"""A card that stops, and one that waits for it; (node, gpu)."""
WORK = replace(QUICK, checkpoint_every_seconds=8.0, checkpoint_seconds=1.0)


@cache
def lived(kind: StopKind, restarts: bool = False, exit_code: int = 1) -> tuple[Second, ...]:
    stop = Stop(kind, STOPS, ABORTS, exit_code, RESTARTS if restarts else None)
    plan = FaultPlan(
        "ecc_error", NodeName("node-0002"), 2, onset=STOPS, end=stop.restarts_at,
        symptoms=(Symptom("hot_memory", 0.1),), stop=stop,
    )  # fmt: skip
    return tuple(SyntheticCluster(configured(work=WORK, faults=(plan,))).seconds(0, END))


def hanging(kind: StopKind, metric: str, place: tuple[int, int]) -> float:
    """Of a card, once everybody waits."""
    return float(np.mean([s.gpu[metric][place] for s in lived(kind)[STOPS + 8 : ABORTS]]))


def events(seconds: tuple[Second, ...], kind: EventKind) -> list[Event]:
    return [event for second in seconds for event in second.events if event.kind is kind]


@pytest.mark.parametrize("kind", list(StopKind))
def test_whoever_waits_is_busy_with_nothing(kind: StopKind) -> None:
    assert hanging(kind, "gpu_utilization_ratio", WAITING) == 1.0
    assert hanging(kind, "gpu_tensor_active_ratio", WAITING) == 0.0
    before = np.mean([s.gpu["gpu_power_watts"][WAITING] for s in lived(kind)[6:STOPS]])
    assert hanging(kind, "gpu_power_watts", WAITING) < 0.6 * before


@pytest.mark.parametrize("kind", list(StopKind))
def test_no_step_ends_while_the_job_hangs(kind: StopKind) -> None:
    steps = [s.rank["step"][WAITING] for s in lived(kind)[STOPS + 3 : ABORTS]]
    assert len(set(steps)) == 1


def test_a_kernel_that_never_ends_keeps_its_multiprocessors_busy() -> None:
    mine, other = (
        hanging(StopKind.HANG, "gpu_sm_active_ratio", at) for at in (STOPPED, WAITING)
    )  # fmt: skip
    assert mine > 0.8 > 0.3 > other
    assert hanging(StopKind.HANG, "gpu_tensor_active_ratio", STOPPED) == 0.0


def test_a_blocked_rank_s_gpu_is_idle_and_its_heart_beats() -> None:
    assert hanging(StopKind.BLOCKED, "gpu_utilization_ratio", STOPPED) == 0.0
    second = lived(StopKind.BLOCKED)[ABORTS - 1]
    assert second.has_process.all()
    assert second.rank["heartbeat"][STOPPED] == second.second + 1


def test_a_crash_takes_the_node_s_ranks_at_once_and_the_others_at_the_time_out() -> None:
    seconds = lived(StopKind.CRASH, exit_code=-11)
    exits = events(seconds, EventKind.PROCESS_EXIT)
    when = [round(event.timestamp.timestamp()) - seconds[0].second for event in exits]
    assert when == [STOPS] + [STOPS + 2] * 3 + [ABORTS] * 12
    assert (exits[0].node, exits[0].rank) == ("node-0002", 6)
    assert [event.details for event in exits[:2]] == [{"signal": 11}, {"signal": 15}]
    assert exits[-1].details == {"signal": 6}


def test_a_rank_without_a_process_has_no_row_and_holds_no_memory() -> None:
    second = lived(StopKind.CRASH)[STOPS + 5]
    ranks = next(one for one in second.tables() if one.entity is Entity.RANK)
    assert "node-0002" not in ranks.nodes
    assert len(ranks.nodes) == 12
    assert second.gpu["gpu_memory_used_bytes"][1].max() < 1e9


def test_a_card_that_is_gone_and_a_node_that_is_gone_have_no_rows() -> None:
    card, node = (
        lived(kind)[STOPS + 5] for kind in (StopKind.CARD_GONE, StopKind.NODE_GONE)
    )  # fmt: skip
    assert np.argwhere(~card.is_present).tolist() == [[1, 2]]
    assert all("node-0002" not in table.nodes for table in node.tables())
    assert not any(e.node == "node-0002" for e in events(lived(StopKind.NODE_GONE)[1:],
                                                         EventKind.PROCESS_EXIT))  # fmt: skip


def test_a_link_that_is_down_is_counted_and_pauses_whoever_sends() -> None:
    second = lived(StopKind.LINK_DOWN)[ABORTS - 1]
    assert second.node["ib_link_downed_total"].tolist() == [0, 1, 0, 0]
    assert second.node["pfc_tx_packets_per_second"].argmax() == 1


def test_a_job_that_is_given_up_is_over() -> None:
    seconds = lived(StopKind.HANG)
    states = [event.details["state"] for event in events(seconds, EventKind.JOB_STATE)]
    assert states[-1] == "finished"
    assert seconds[-1].rank == {}
    assert seconds[-1].gpu["gpu_utilization_ratio"].max() == 0.0
    assert seconds[-1].gpu["gpu_memory_used_bytes"].max() < 1e9


def test_a_job_that_is_started_again_goes_on_from_its_checkpoint() -> None:
    seconds = lived(StopKind.CRASH, restarts=True)
    states = [event.details["state"] for event in events(seconds, EventKind.JOB_STATE)]
    assert states[states.index("recovering") :][:3] == ["recovering", "starting", "training"]
    results = [event.details for event in events(seconds, EventKind.CHECKPOINT)]
    loaded = next(one for one in results if one["result"] == "loaded")
    saved = [one for one in results[: results.index(loaded)] if one["result"] == "saved"][-1]
    assert loaded["step"] == saved["step"]
    steps = [float(s.rank["step"][0, 0]) for s in seconds[RESTARTS:] if "step" in s.rank]
    assert steps[0] == saved["step"]
    assert steps[-1] > steps[0]


def test_a_checkpoint_that_is_cut_short_has_failed() -> None:
    slow = replace(QUICK, checkpoint_every_seconds=12.0, checkpoint_seconds=60.0)
    stop = Stop(StopKind.CRASH, STOPS, STOPS + 6)
    plan = FaultPlan("ecc_error", NodeName("node-0002"), 2, onset=STOPS,
                     symptoms=(Symptom("hot_memory", 0.1),), stop=stop)  # fmt: skip
    seconds = tuple(SyntheticCluster(configured(work=slow, faults=(plan,))).seconds(0, 24))
    results = [event.details["result"] for event in events(seconds, EventKind.CHECKPOINT)]
    assert results == ["failed"]
