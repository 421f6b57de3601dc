"""A GPU's activity, power, clock and temperature, each following from the one before.

Activity follows from how the second was spent; power from activity, clock and the individual card;
the clock is what the power limit and the temperature allow; temperature follows power slowly.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

import numpy as np

from paramedic.ingest.synthetic.arrays import Floats
from paramedic.ingest.synthetic.causes import Causes
from paramedic.ingest.synthetic.configuration import ClusterConfig
from paramedic.ingest.synthetic.individuals import Individuals
from paramedic.ingest.synthetic.living import Shares
from paramedic.ingest.synthetic.pace import FALLBACK_SLOWNESS, tensor_factor

_TENSOR_BUSY = 0.46
"""Tensor activity of a GPU that does nothing but its own work, at the nominal clock."""
_DRAM_BUSY = 0.42
_FP16_BUSY = 0.03
_FP32_BUSY = 0.07
_FALLBACK_FP16 = 0.5
_EVALUATION = 0.7
"""Forward passes keep the tensor cores less busy than training does."""
_ACTIVE_WATTS = 48.0
_SM_WATTS = 190.0
_TENSOR_WATTS = 560.0
_DRAM_WATTS = 230.0
_FP16_WATTS = 160.0
_POWER_EXPONENT = 2.2
"""Of the clock: voltage goes down with it."""
_CLOCK_SETTLES_SECONDS = 1.5
_THROTTLE_PER_KELVIN = 0.035
_LOWEST_CLOCK_RATIO = 0.2
_MEMORY_OFFSET_CELSIUS = 7.0
_MEMORY_WATTS_TO_KELVIN = 0.055

POWER_CAP = 0x4
THERMAL_SLOWDOWN = 0x20
IDLE = 0x1


@dataclass(frozen=True, slots=True)
class Activity:
    """Shares of the second in which units of each GPU were active."""

    utilization: Floats
    """What the driver calls utilisation: any kernel was running, a waiting one too."""
    graphics: Floats
    sm: Floats
    tensor: Floats
    dram: Floats
    fp16: Floats
    fp32: Floats


@dataclass(frozen=True, slots=True)
class Condition:
    """What the second leaves behind in each GPU."""

    clock_ratio: Floats
    """Of the boost clock."""
    gpu_celsius: Floats
    memory_celsius: Floats


@dataclass(frozen=True, slots=True)
class Warmth:
    """Power, condition and what limited the clock."""

    watts: Floats
    condition: Condition
    limits: Floats
    """Bits: POWER_CAP, THERMAL_SLOWDOWN, IDLE."""


def activity_of(shares: Shares, causes: Causes, condition: Condition, work: Floats) -> Activity:
    """What the units did; `work` is each GPU's seconds of own work a step at the boost clock."""
    running = shares.busy + shares.spinning + shares.collective + shares.optimizer
    running = running + 0.9 * shares.evaluating
    done = shares.work * work
    """Seconds of healthy work: a fixed amount of matrix work, wherever it was done."""
    evaluating = _EVALUATION * shares.evaluating
    matrix = (done * causes.tensor_share + evaluating) / condition.clock_ratio
    fallback = done * (1.0 - causes.tensor_share) * FALLBACK_SLOWNESS / condition.clock_ratio
    return Activity(
        utilization=np.clip(running + 0.25 * shares.loading + 0.05 * shares.saving, 0.0, 1.0),
        graphics=np.clip(0.985 * running, 0.0, 1.0),
        sm=np.clip(
            0.88 * shares.busy + 0.8 * shares.evaluating + 0.14 * shares.spinning
            + 0.2 * shares.collective + 0.92 * shares.optimizer, 0.0, 1.0,
        ),
        tensor=np.clip(_TENSOR_BUSY * matrix, 0.0, 1.0),
        dram=np.clip(
            _DRAM_BUSY * (done + evaluating) + 0.03 * shares.spinning + 0.25 * shares.collective
            + 0.8 * shares.optimizer + 0.1 * shares.saving + causes.scrubbing_ratio, 0.0, 1.0,
        ),
        fp16=np.clip(_FP16_BUSY * matrix + _FALLBACK_FP16 * fallback, 0.0, 1.0),
        fp32=np.clip(_FP32_BUSY * matrix + 0.3 * shares.optimizer, 0.0, 1.0),
    )  # fmt: skip


def warmth_of(
    config: ClusterConfig,
    individuals: Individuals,
    causes: Causes,
    activity: Activity,
    shares: Shares,
    before: Condition,
) -> Warmth:
    """Power of the second, and clock and temperatures at its end."""
    hardware = config.hardware
    dynamic = individuals.power * (
        _ACTIVE_WATTS * activity.utilization + _SM_WATTS * activity.sm
        + _TENSOR_WATTS * activity.tensor + _DRAM_WATTS * activity.dram
        + _FP16_WATTS * activity.fp16
    )  # fmt: skip
    leakage = 1.0 + 0.0015 * (before.gpu_celsius - 50.0)
    idle = hardware.idle_watts * individuals.power * leakage
    watts = idle + dynamic * before.clock_ratio**_POWER_EXPONENT
    power_ratio = _power_ratio(config, individuals, causes, idle, shares)
    too_hot = np.maximum(before.gpu_celsius - hardware.throttle_celsius, 0.0)
    heat_ratio = 1.0 - _THROTTLE_PER_KELVIN * too_hot
    wanted = np.minimum(np.minimum(power_ratio, heat_ratio), causes.clock_limit_ratio)
    wanted = np.clip(wanted, _LOWEST_CLOCK_RATIO, 1.0)
    settled = 1.0 - exp(-1.0 / _CLOCK_SETTLES_SECONDS)
    return Warmth(
        watts=watts,
        condition=Condition(
            clock_ratio=before.clock_ratio + (wanted - before.clock_ratio) * settled,
            gpu_celsius=_gpu_celsius(config, individuals, causes, watts, before),
            memory_celsius=_memory_celsius(config, causes, activity, before),
        ),
        limits=(
            POWER_CAP * (power_ratio < 1.0)
            + THERMAL_SLOWDOWN * (heat_ratio < 1.0)
            + IDLE * (activity.utilization < 0.02)
        ).astype(float),
    )


def resting(config: ClusterConfig, individuals: Individuals) -> Condition:
    """Cards that have been idle for long."""
    warm = individuals.air_celsius + config.hardware.kelvin_per_watt * config.hardware.idle_watts
    return Condition(np.ones_like(warm), warm, warm + 2.0)


def _power_ratio(
    config: ClusterConfig, individuals: Individuals, causes: Causes, idle: Floats, shares: Shares
) -> Floats:
    """The clock at which the limit is just kept while the GPU computes; waiting needs no limit."""
    slowness = tensor_factor(causes)
    tensor = _TENSOR_BUSY * causes.tensor_share / slowness
    fallback = _FALLBACK_FP16 * FALLBACK_SLOWNESS * (1.0 - causes.tensor_share) / slowness
    computing = individuals.power * (
        _ACTIVE_WATTS + _SM_WATTS * 0.88 + _TENSOR_WATTS * tensor
        + _DRAM_WATTS * _DRAM_BUSY / slowness + _FP16_WATTS * fallback
    )  # fmt: skip
    limit = config.hardware.power_limit_watts * causes.power_limit_ratio
    ratio = (np.maximum(limit - idle, 1.0) / computing) ** (1.0 / _POWER_EXPONENT)
    computes = shares.busy + shares.evaluating > 0.1
    return np.where(computes, np.minimum(1.0, ratio), 1.0)


def _gpu_celsius(
    config: ClusterConfig,
    individuals: Individuals,
    causes: Causes,
    watts: Floats,
    before: Condition,
) -> Floats:
    hardware = config.hardware
    resistance = hardware.kelvin_per_watt * individuals.cooling * causes.cooling_ratio
    air = individuals.air_celsius + causes.ambient_celsius[:, None]
    return _towards(before.gpu_celsius, air + resistance * watts, hardware.heating_seconds)


def _memory_celsius(
    config: ClusterConfig, causes: Causes, activity: Activity, before: Condition
) -> Floats:
    """The memory sits beside the chip and is heated by it and by its own traffic."""
    own = _MEMORY_OFFSET_CELSIUS + _MEMORY_WATTS_TO_KELVIN * _DRAM_WATTS * activity.dram
    target = before.gpu_celsius + own + causes.memory_heat_celsius
    return _towards(before.memory_celsius, target, 1.5 * config.hardware.heating_seconds)


def _towards(now: Floats, target: Floats, seconds: float) -> Floats:
    """One second of an exponential approach."""
    return target + (now - target) * exp(-1.0 / seconds)
