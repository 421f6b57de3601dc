"""Jobs of many sizes, layouts, paces and surroundings, drawn at random."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from paramedic.ingest.contract import JobName
from paramedic.ingest.synthetic.configuration import (
    ClusterConfig,
    Differences,
    Hardware,
    Observation,
    Shape,
    Weather,
    Work,
)
from paramedic.ingest.synthetic.episodes.plan import Split

_Choice = TypeVar("_Choice")

_SIZES = (4, 8, 8, 12, 16, 16, 16, 24, 24, 32, 32, 48, 64)
_SIZES_OF_TEST_ONLY = (6, 20, 40, 96, 128, 256)
_TEST_SIZE_RATIO = 0.15
_GPUS = (1, 4, 4, 8, 8, 8)
_MOST_RANKS = 1024
"""More would take too much memory for what they add."""
_STEP_SECONDS = (0.5, 17.0)
"""On the slowest cards a step takes a fifth longer."""
_LEAST_COMPUTE_SECONDS = 0.3
_YEAR_SECONDS = 31_536_000
_FIRST_SECOND = 1_767_225_600
_SEEDS = 2**40
_MODELS = (
    Hardware(),
    Hardware(),
    Hardware(model="NVIDIA A100-SXM4-80GB", boost_clock_hertz=1.41e9, power_limit_watts=400.0,
             idle_watts=55.0, nic_bytes_per_second=2.3e10, pcie_bytes_per_second=2.6e10,
             nvlink_bytes_per_second=2.7e11, kelvin_per_watt=0.085, cores=64),
    Hardware(model="NVIDIA B200", boost_clock_hertz=1.965e9, power_limit_watts=1000.0,
             idle_watts=140.0, kelvin_per_watt=0.055, nvlink_bytes_per_second=8.0e11, cores=96),
)  # fmt: skip


def seed_of(split: Split, rng: np.random.Generator) -> int:
    """A seed that no other split has: seeds of different splits leave different remainders."""
    splits = list(Split)
    return int(rng.integers(_SEEDS)) * len(splits) + splits.index(split)


def draw_job(split: Split, seed: int, rng: np.random.Generator, least_nodes: int = 4) -> Job:
    """A healthy job with all that healthy jobs live through, at levels of its own."""
    shape = _shape(split, rng, least_nodes)
    config = ClusterConfig(
        job=JobName(f"job-{seed:012x}"),
        seed=seed,
        first_second=_FIRST_SECOND + int(rng.integers(_YEAR_SECONDS)),
        shape=shape,
        work=_work(shape, rng),
        hardware=_MODELS[int(rng.integers(len(_MODELS)))],
        differences=_differences(rng),
        weather=_weather(rng),
        observation=_observation(rng),
    )
    warm = config.work.starting_seconds + config.work.warm_up_steps * 3.0 * _step_seconds(config)
    return Job(config, math.ceil(warm))


@dataclass(frozen=True, slots=True)
class Job:
    """A job and how long it takes to come to its usual pace."""

    config: ClusterConfig
    warm_seconds: int


def _step_seconds(config: ClusterConfig) -> float:
    work, hardware = config.work, config.hardware
    bubble = 1.0 + (config.shape.stages - 1) / work.microbatches
    return work.compute_seconds * bubble + work.gradient_bytes / hardware.nic_bytes_per_second


def _shape(split: Split, rng: np.random.Generator, least_nodes: int) -> Shape:
    is_new_size = split is Split.TEST and rng.random() < _TEST_SIZE_RATIO
    sizes = [n for n in (_SIZES_OF_TEST_ONLY if is_new_size else _SIZES) if n >= least_nodes]
    nodes = _one(sizes, rng)
    gpus = _one([n for n in _GPUS if n * nodes <= _MOST_RANKS], rng)
    tensor = _one([n for n in (1, 2, 4, 8, 8) if gpus % n == 0 and n <= gpus], rng)
    columns = nodes * gpus // tensor
    stages = _one([n for n in (1, 1, 2, 4, 8) if columns % n == 0 and columns >= 2 * n], rng)
    experts = _one([n for n in (1, 1, 1, 2, 4) if (columns // stages) % n == 0], rng)
    switch = _one([n for n in (4, 8, 16) if n == 4 or 2 * n <= nodes], rng)
    return Shape(nodes, gpus, stages, tensor, experts, _one([2, 4], rng), switch)


def _work(shape: Shape, rng: np.random.Generator) -> Work:
    microbatches = _one([8, 16, 32, 64], rng)
    bubble = 1.0 + (shape.stages - 1) / microbatches
    compute = max(_LEAST_COMPUTE_SECONDS, _between(*_STEP_SECONDS, rng) / (1.2 * bubble))
    return Work(
        compute_seconds=compute,
        microbatches=microbatches,
        stage_imbalance=rng.uniform(0.0, 0.08),
        expert_imbalance=rng.uniform(0.0, 0.06),
        step_jitter=rng.uniform(0.002, 0.012),
        loading_seconds=rng.uniform(0.004, 0.03) * compute,
        optimizer_seconds=rng.uniform(0.01, 0.05) * compute,
        gradient_bytes=3.0e10 * compute * rng.uniform(0.03, 0.25),
        buckets=int(np.clip(compute * 8.0, 1, 48)),
        tensor_bytes=1.0e11 * compute * rng.uniform(0.4, 1.2),
        pipeline_bytes=6.0e8 * compute,
        memory_bytes=rng.uniform(3.0e10, 7.4e10),
        samples=_one([256, 512, 1024, 4096], rng),
        starting_seconds=rng.uniform(8.0, 35.0),
        warm_up_steps=int(np.clip(30.0 / compute, 1, 12)),
        checkpoint_every_seconds=_between(240.0, 1800.0, rng),
        checkpoint_seconds=_between(3.0, 30.0, rng),
        evaluation_every_seconds=_between(500.0, 3600.0, rng),
        evaluation_seconds=_between(6.0, 50.0, rng),
    )


def _differences(rng: np.random.Generator) -> Differences:
    usual, level = Differences(), _between(0.5, 2.0, rng)
    return Differences(
        usual.speed * level, usual.power * level, usual.cooling * level, usual.network * level,
        usual.host * level, usual.ambient_celsius * level,
    )  # fmt: skip


def _weather(rng: np.random.Generator) -> Weather:
    level = _between(0.4, 2.5, rng)
    return Weather(
        cron_every_seconds=_one([300, 900, 900, 3600], rng),
        cron_seconds=_one([4, 12, 30], rng),
        host_busy_per_node_day=5.0 * level,
        congestion_per_day=24.0 * level,
        congestion_per_switch_day=6.0 * level,
        data_stalls_per_node_day=0.5 * level,
        corrected_errors_per_gpu_day=0.3 * level,
        replays_per_gpu_day=4.0 * level,
        error_bursts_per_node_day=6.0 * level,
        host_regimes_per_node_day=4.0 * level,
        lone_xids_per_gpu_day=0.03 * level,
        wandering_ratio=0.02 * level,
    )


def _observation(rng: np.random.Generator) -> Observation:
    level = _between(0.4, 2.5, rng)
    has_wrong_clock = rng.random() < 0.1
    return Observation(
        glitches_per_gpu_day=0.3 * level,
        lost_scrapes_per_node_day=10.0 * level,
        exporter_restarts_per_node_day=0.4 * level,
        clock_offset_seconds=_one([0.02, 0.02, 0.1, 0.4], rng),
        wrong_clock_nodes=int(has_wrong_clock),
        wrong_clock_seconds=rng.uniform(2.0, 6.0) if has_wrong_clock else 0.0,
    )


def _between(low: float, high: float, rng: np.random.Generator) -> float:
    """Evenly in the logarithm."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _one(choices: Sequence[_Choice], rng: np.random.Generator) -> _Choice:
    return choices[int(rng.integers(len(choices)))]
