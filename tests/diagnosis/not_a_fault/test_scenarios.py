"""What happens to a job that is no fault of a machine: nobody is accused of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import numpy as np
import pytest

from diagnosis.not_a_fault.plant import (
    LEVELS,
    SPAN,
    START,
    WORK,
    Plant,
    accusations,
    alarms,
    event,
    name,
    state,
)
from paramedic.ingest.contract import Entity, EventKind, format_time

pytestmark = pytest.mark.long
ALL = (Entity.GPU, Entity.NODE, Entity.RANK)
HOSTS = (Entity.GPU, Entity.NODE)


def nothing(plant: Plant) -> None:
    """All is as ever."""


def checkpoint_announced(plant: Plant) -> None:
    plant.slow_down(0, slice(300, 330))
    plant.bend("disk_throughput_bytes_per_second", 80, slice(300, 330))
    plant.events += [state("checkpointing", 300), state("training", 330)]


def checkpoint_unannounced(plant: Plant) -> None:
    """Node 0 writes for longer than the others, who wait for it."""
    plant.slow_down(0, slice(300, 330))
    plant.bend("disk_throughput_bytes_per_second", 80, slice(300, 315))
    plant.bend("disk_throughput_bytes_per_second", 80, slice(315, 330), node=0)


def checkpoints_often(plant: Plant) -> None:
    for begin in range(60, 600, 90):
        plant.slow_down(0, slice(begin, begin + 12))
        plant.bend("disk_throughput_bytes_per_second", 80, slice(begin, begin + 12))


def evaluation_announced(plant: Plant) -> None:
    plant.steps[SPAN] = 0
    plant.bend("gpu_tensor_active_ratio", 0.6)
    plant.bend("gpu_nvlink_tx_bytes_per_second", 0.1)
    plant.events += [state("evaluating", 300), state("training", 360)]


def evaluation_unannounced(plant: Plant) -> None:
    plant.steps[SPAN] = 0
    plant.bend("gpu_tensor_active_ratio", 0.6)
    plant.bend("gpu_nvlink_tx_bytes_per_second", 0.1)


def start_up(plant: Plant) -> None:
    """Nodes read their data and compile in their own time; the first steps are slow and uneven."""
    rng = np.random.default_rng(1)
    plant.events[:] = [state("starting", -5), state("warming_up", 60), state("training", 120)]
    for node in range(plant.nodes):
        until = int(rng.uniform(40, 110))
        for metric in ("gpu_utilization_ratio", "gpu_tensor_active_ratio", "gpu_power_watts"):
            plant.bend(metric, 0.1, slice(0, until), node)
        plant.bend("disk_throughput_bytes_per_second", rng.uniform(5, 50), slice(0, until), node)
        plant.bend("compute_seconds", rng.uniform(1, 4), slice(0, 130), node)
        plant.hide(node, slice(0, until - 30), Entity.RANK)
    plant.steps[:120] = 0


def elastic_resize(plant: Plant) -> None:
    """Node 15 leaves, and comes back later."""
    gone = slice(300, 420)
    plant.hide(15, gone, *ALL)
    plant.slow_down(0, slice(300, 315))
    plant.slow_down(0, slice(420, 435))
    plant.generation[300:], plant.generation[420:] = 1, 2
    plant.events += [
        event(EventKind.MEMBERSHIP, 299.5, 15, change="left"),
        state("resizing", 300, 1),
        state("training", 315, 1),
        event(EventKind.MEMBERSHIP, 419.5, 15, change="joined"),
        state("resizing", 420, 2),
        state("training", 435, 2),
    ]


def data_stall_of_all(plant: Plant) -> None:
    plant.slow_down(0.4)
    plant.bend("dataloader_seconds", 75)


def congestion_of_all(plant: Plant) -> None:
    """Whoever is further from the core suffers a little more."""
    plant.slow_down(0.5)
    rng = np.random.default_rng(2)
    for node in range(plant.nodes):
        plant.bend("collective_seconds", rng.uniform(3, 4), node=node)
        plant.bend("rdma_tx_bytes_per_second", rng.uniform(0.8, 1.2), node=node)
        plant.bend("tcp_retransmits_per_second", rng.uniform(30, 100), node=node)


def cron_job_on_one_host(plant: Plant) -> None:
    for metric, factor in (
        ("cpu_utilization_ratio", 3.5),
        ("disk_throughput_bytes_per_second", 20),
        ("memory_used_ratio", 1.1),
    ):
        plant.bend(metric, factor, slice(300, 420), node=5)


def cron_jobs_on_one_host_after_another(plant: Plant) -> None:
    for node in range(plant.nodes):
        begin = 60 + 30 * node
        plant.bend("cpu_utilization_ratio", 3.0, slice(begin, begin + 45), node)
        plant.bend("disk_throughput_bytes_per_second", 15, slice(begin, begin + 45), node)


def backup_on_one_host(plant: Plant) -> None:
    """It takes some of what feeds the GPUs, and is over in minutes; these hardly scatter."""
    while_it_runs = slice(300, 380)
    plant.bend("cpu_utilization_ratio", 3.5, while_it_runs, node=5)
    plant.bend("disk_throughput_bytes_per_second", 20, while_it_runs, node=5)
    for metric in (*WORK, "gpu_power_watts"):
        level = LEVELS[plant.entity(metric)][metric]
        if plant.entity(metric) is Entity.GPU:
            plant.values[metric] = level * (plant.values[metric] / level) ** 0.3
        plant.bend(metric, 0.94, while_it_runs, node=5)


STEP_SECONDS, WORKS_SECONDS, LATE_SECONDS = 14, 10, 10
"""22 steps have been made by second 308."""


def one_late_batch_in_long_steps(plant: Plant) -> None:
    """Node 5 begins a step late; the others have done with it and wait, and then all go on."""
    begun, over = 308, 308 + LATE_SECONDS + STEP_SECONDS  # both at the beginning of a step
    for node in range(plant.nodes):
        late = LATE_SECONDS if node == 5 else 0
        works = {*range(begun + late, begun + late + WORKS_SECONDS)}
        works |= {at for at in range(begun) if at % STEP_SECONDS < WORKS_SECONDS}
        works |= {
            s for s in range(over, plant.seconds) if (s - over) % STEP_SECONDS < WORKS_SECONDS
        }
        for second in {*range(plant.seconds)} - works:
            rest(plant, second, node)


def rest(plant: Plant, second: int, node: int) -> None:
    for metric, factor in (*((one, 0.05) for one in WORK), ("gpu_power_watts", 0.4)):
        plant.bend(metric, factor, slice(second, second + 1), node)


def congestion_of_one_switch(plant: Plant) -> None:
    """Of four that have four nodes each; the others wait for its nodes."""
    for node in range(plant.nodes):
        switch = f"leaf-{node // 4}"
        plant.events.append(event(EventKind.MEMBERSHIP, -600, node, change="joined", switch=switch))
    plant.slow_down(0.8, slice(300, 340))
    for node in range(4, 8):
        plant.bend("tcp_retransmits_per_second", 60, slice(300, 340), node)
        plant.bend("rdma_tx_bytes_per_second", 0.85, slice(300, 340), node)
        plant.bend("collective_seconds", 1.3, slice(300, 340), node)


GLITCHES = (
    ("gpu_power_watts", 0.0),
    ("gpu_tensor_active_ratio", 0.0),
    ("gpu_temperature_celsius", 0.0),
    ("gpu_utilization_ratio", 0.0),
    ("gpu_sm_clock_hertz", 0.2),
    ("rdma_tx_bytes_per_second", 50.0),
)


def one_second_glitches(plant: Plant) -> None:
    for at, (metric, factor) in enumerate(GLITCHES):
        plant.bend(metric, factor, slice(200 + 60 * at, 201 + 60 * at), node=at)


def machine_always_different(plant: Plant) -> None:
    always = slice(None)
    for metric in ("gpu_tensor_active_ratio", "gpu_power_watts", "gpu_pcie_tx_bytes_per_second"):
        plant.bend(metric, 0.92, always, node=5)
    plant.bend("compute_seconds", 1.08, always, node=5)
    plant.bend("gpu_temperature_celsius", 1.08, always, node=9)
    plant.bend("cpu_utilization_ratio", 1.08, always, node=2)


def telemetry_hole_of_one(plant: Plant) -> None:
    plant.hide(6, slice(300, 320), *HOSTS)


def telemetry_hole_of_all(plant: Plant) -> None:
    plant.hide(None, slice(300, 320), *HOSTS)


def exporter_restart(plant: Plant) -> None:
    """GPU rows are away for a while, counters begin at zero, the first rates are none."""
    plant.hide(6, slice(300, 315), Entity.GPU)
    plant.bend("gpu_ecc_correctable_total", 0, slice(315, None), node=6)
    for metric in ("gpu_pcie_tx_bytes_per_second", "gpu_nvlink_tx_bytes_per_second"):
        plant.bend(metric, np.nan, slice(315, 317), node=6)


def clock_steps_ahead(plant: Plant) -> None:
    plant.clock[300:, 4] = 3


def clock_steps_back(plant: Plant) -> None:
    plant.clock[300:, 4] = -3


def declared_maintenance(plant: Plant) -> None:
    """A node is tested, restarted and tested again; the others go on without it."""
    begins, ends = (format_time(datetime.fromtimestamp(START + at, UTC)) for at in (290, 450))
    declared = {"id": "m1", "change": "declared", "begins": begins, "ends": ends}
    plant.events.append(event(EventKind.MAINTENANCE, 100, 9, **declared))
    for metric in ("gpu_tensor_active_ratio", "gpu_power_watts", "gpu_nvlink_tx_bytes_per_second"):
        plant.bend(metric, 0.2, slice(300, 445), node=9)
    plant.bend("cpu_utilization_ratio", 4, slice(300, 445), node=9)
    plant.hide(9, slice(340, 400), *HOSTS)
    plant.hide(9, slice(300, 445), Entity.RANK)


SCENARIOS: list[Callable[[Plant], None]] = [
    nothing,
    checkpoint_announced,
    checkpoint_unannounced,
    checkpoints_often,
    evaluation_announced,
    evaluation_unannounced,
    start_up,
    elastic_resize,
    data_stall_of_all,
    congestion_of_all,
    cron_job_on_one_host,
    cron_jobs_on_one_host_after_another,
    backup_on_one_host,
    one_late_batch_in_long_steps,
    congestion_of_one_switch,
    one_second_glitches,
    machine_always_different,
    telemetry_hole_of_one,
    telemetry_hole_of_all,
    exporter_restart,
    clock_steps_ahead,
    clock_steps_back,
    declared_maintenance,
]


@pytest.mark.parametrize("happens", SCENARIOS, ids=lambda one: one.__name__)
def test_no_machine_is_accused_of(happens: Callable[[Plant], None]) -> None:
    plant = Plant()
    happens(plant)
    said = plant.judged()
    assert accusations(said) == []
    assert alarms(said) == []


def test_a_machine_that_is_ill_is_accused_in_the_same_plant() -> None:
    """Else the scenarios would say nothing."""
    plant = Plant()
    plant.bend("gpu_tensor_active_ratio", 0.5, slice(300, None), node=5)
    plant.bend("gpu_power_watts", 0.6, slice(300, None), node=5)
    found = [one for one in plant.judged() if one.node is not None]
    assert {one.node for one in found} == {name(5)}
