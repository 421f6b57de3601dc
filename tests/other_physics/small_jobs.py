"""Jobs and machines small enough for tests: no jitter, no differences, unless asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from benchmarks.other_physics.influences import Course, Knob, Push
from benchmarks.other_physics.job import CARDS, Job, Layout
from benchmarks.other_physics.machines import Machines
from benchmarks.other_physics.steps import Halt, Pause, Played, Stage

ALWAYS = Course(0.0, np.inf)


def a_job(nodes: int = 2, gpus: int = 2, layout: Layout = Layout.DATA, stages: int = 1) -> Job:
    return Job(
        name="small",
        layout=layout,
        card=CARDS[0],
        nodes=nodes,
        gpus=gpus,
        stages=stages,
        step_seconds=1.0,
        micro_batches=2 * stages,
        load_share=0.4,
        transfer_share=0.05,
        tensor_share=0.0 if layout is Layout.DATA else 0.1,
        data_share=0.2,
        optimizer_share=0.05,
        jitter=0.0,
        intensity=0.5,
        is_ring=False,
        spins=True,
        stage_work=(1.0,) * stages,
        nodes_a_switch=3,
    )


def alike_machines(job: Job) -> Machines:
    ranks, nodes = np.ones(job.ranks), np.ones(job.nodes)
    return Machines(
        speed=ranks,
        power=ranks,
        boost=ranks,
        celsius_per_watt=0.08 * ranks,
        seconds_to_warm=20.0 * ranks,
        memory=ranks,
        air_celsius=25.0 * nodes,
        host=nodes,
        disk=nodes,
        network=nodes,
    )


def push(knob: Knob, size: float, *ranks: int, course: Course = ALWAYS) -> Push:
    return Push(knob, np.array(ranks), size, course)


def played(
    job: Job,
    *pushes: Push,
    seconds: int = 30,
    pauses: Sequence[Pause] = (),
    halt: Halt | None = None,
) -> Played:
    stage = Stage(job, alike_machines(job), pushes, np.random.default_rng(0), seconds)
    return stage.play(pauses, halt)


def ring(job: Job) -> Job:
    return replace(job, is_ring=True)
