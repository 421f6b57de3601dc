"""The whole physics: from the state before a second to the state after it, and what was seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from paramedic.ingest.contract import Event
from paramedic.ingest.synthetic.arrays import Floats
from paramedic.ingest.synthetic.causes import Causes, Influence
from paramedic.ingest.synthetic.configuration import ClusterConfig
from paramedic.ingest.synthetic.counters import Counters, first_counters, spread_over_cores
from paramedic.ingest.synthetic.faults.planned import PlannedFault
from paramedic.ingest.synthetic.host import host_of
from paramedic.ingest.synthetic.individuals import Individuals, draw_individuals
from paramedic.ingest.synthetic.layout import Layout
from paramedic.ingest.synthetic.living import Lived, live
from paramedic.ingest.synthetic.nuisances import ErrorBursts, HostRegimes, LoneXids, Wandering
from paramedic.ingest.synthetic.observation import Observation
from paramedic.ingest.synthetic.pace import Pace, pace_of
from paramedic.ingest.synthetic.phases import Pause, Progress, Schedule
from paramedic.ingest.synthetic.randomness import Dice, Stream
from paramedic.ingest.synthetic.ranks import RankTelemetry
from paramedic.ingest.synthetic.reading import Second
from paramedic.ingest.synthetic.sensors import (
    gpu_error_readings,
    gpu_mishaps,
    gpu_readings,
    node_growth,
    node_readings,
)
from paramedic.ingest.synthetic.silicon import (
    Condition,
    Warmth,
    activity_of,
    resting,
    warmth_of,
)
from paramedic.ingest.synthetic.standstill import stand_still
from paramedic.ingest.synthetic.storytelling import Storyteller
from paramedic.ingest.synthetic.traffic import Traffic, traffic_of
from paramedic.ingest.synthetic.weather import (
    Air,
    BusyHosts,
    Congestion,
    Cron,
    DataStalls,
    Mishaps,
)

_EMPTY_MEMORY_BYTES = 6.0e8
_ALLOCATED_FIRST = 0.85


@dataclass(frozen=True, slots=True)
class State:
    """Everything that the next second depends on."""

    offset: int
    """The second that comes next, counted from the job's start."""
    progress: Progress
    condition: Condition
    load: Floats
    counters: Counters
    newest_step: int
    xid: Floats
    """The last code of each card; it stays."""


class World:
    """A cluster's physics; it keeps no time, the state does."""

    def __init__(self, config: ClusterConfig, more: Sequence[Influence] = ()) -> None:
        """`more` presses on the causes after weather and faults."""
        self.config = config
        self._dice = Dice(config.seed)
        self.layout = Layout(config.shape, self._dice)
        self.observation = Observation(config, self._dice)
        self._individuals = draw_individuals(config, self.layout, self._dice)
        shape = (config.shape.nodes, config.shape.gpus)
        self._schedule = Schedule(config.work, shape, self._dice)
        self._ranks = RankTelemetry(config.work, shape, config.shape.data, self._dice)
        self._story = Storyteller(config, self.layout)
        self._influences = (
            *_weather(config, self.layout, self._individuals, self._dice),
            *(PlannedFault(plan, self.layout) for plan in config.faults),
            *more,
        )

    def begin(self) -> State:
        """The job is about to be started on cold cards."""
        shape = self.config.shape
        return State(
            offset=0,
            progress=self._schedule.begin(),
            condition=resting(self.config, self._individuals),
            load=np.ones(shape.nodes),
            counters=first_counters(
                self._individuals.uptime_seconds, shape.gpus, self.config.hardware.cores
            ),
            newest_step=-1,
            xid=np.zeros((shape.nodes, shape.gpus)),
        )

    def live(self, state: State) -> tuple[State, Second]:
        """One second: the state after it, and what was seen."""
        config, second, progress = self.config, state.offset, state.progress
        causes = self._causes(second)
        clock_ratio = state.condition.clock_ratio
        pace = pace_of(config, self._individuals, clock_ratio, causes)
        state = self._directed(state, causes)
        lived = live(state.progress, second, pace, self._schedule, self.layout.pace)
        stand_still(lived.shares, causes)
        work = self._individuals.work
        activity = activity_of(lived.shares, causes, state.condition, work)
        warmth = warmth_of(
            config, self._individuals, causes, activity, lived.shares, state.condition
        )
        network = self._dice.at(Stream.NETWORK, second)
        jitter = 1.0 + 0.015 * np.clip(network.standard_normal(clock_ratio.shape), -3.0, 3.0)
        traffic = traffic_of(config, causes, lived.shares, pace, jitter)
        readings = gpu_readings(
            config.hardware, activity, warmth, traffic, self._memory(lived.progress, causes)
        )
        turns = lived.turns if progress is state.progress else (state.progress, *lived.turns)
        events = tuple(self._events(progress, turns, causes, second))
        return self._observe(state, events, causes, pace, lived, warmth, traffic, readings)

    def _observe(
        self, state: State, events: tuple[Event, ...], causes: Causes, pace: Pace, lived: Lived,
        warmth: Warmth, traffic: Traffic, readings: dict[str, Floats],
    ) -> tuple[State, Second]:  # fmt: skip
        config, second = self.config, state.offset
        host = host_of(
            config, self._individuals, causes, lived.shares, state.load, second,
            self._dice.at(Stream.HOST, second),
        )  # fmt: skip
        errors = self._dice.at(Stream.ERRORS, second)
        gpu_growth = gpu_mishaps(causes, warmth, errors)
        node_grown = node_growth(causes, host, traffic, errors)
        cores = config.hardware.cores
        busy = spread_over_cores(host.cpu_ratio, cores)
        counters = state.counters.grown(gpu_growth, node_grown, busy, causes.has_rebooted, second)
        xid = np.where(causes.xid > 0, causes.xid, state.xid)
        readings |= gpu_error_readings(causes, gpu_growth, counters, xid)
        gpu, spikes = self.observation.glitched(readings, second)
        newest = lived.ended[-1].step if lived.ended else state.newest_step
        after = State(
            second + 1, lived.progress, warmth.condition, host.load, counters, newest, xid
        )
        node = node_readings(config, host, node_grown, busy.sum(axis=1) / (100.0 * cores), counters)
        return after, Second(
            job=config.job,
            layout=self.layout,
            offset=second,
            second=config.first_second + second,
            gpu=gpu,
            node=node,
            rank=self._rank_rows(lived, newest, pace, second),
            counters=counters,
            is_present=causes.is_present,
            has_process=causes.has_process,
            sight=self.observation.sight(causes, second),
            spikes=spikes,
            events=events,
        )

    def _causes(self, second: int) -> Causes:
        causes = Causes.neutral(self.config.shape.nodes, self.config.shape.gpus)
        for influence in self._influences:
            influence.press(causes, second)
        return causes

    def _directed(self, state: State, causes: Causes) -> State:
        """The state after the job was brought down or up again, where a cause does either."""
        progress, now = state.progress, float(state.offset)
        is_halted = progress.pause is not None and progress.pause.is_halt
        if causes.halt is not None and not is_halted:
            return replace(state, progress=self._schedule.halted(progress, causes.halt, now))
        if causes.halt is None and is_halted:
            again = self._schedule.restarted(progress, now)
            return replace(state, progress=again, newest_step=again.step - 1)
        return state

    def _memory(self, progress: Progress, causes: Causes) -> Floats:
        """Allocated when the first step begins, a little more with the optimizer's state."""
        if progress.pause is Pause.STARTING:
            return np.full_like(self._individuals.memory_bytes, _EMPTY_MEMORY_BYTES)
        share = _ALLOCATED_FIRST if progress.step < 1 else 1.0
        held = share * self._individuals.memory_bytes
        held = np.where(causes.has_process, held, _EMPTY_MEMORY_BYTES)
        return np.minimum(held + causes.leaked_bytes, self.config.hardware.memory_bytes)

    def _rank_rows(self, lived: Lived, newest: int, pace: Pace, second: int) -> dict[str, Floats]:
        pause = lived.progress.pause
        if pause is Pause.STARTING or (pause is not None and pause.is_halt):
            return {}
        moment = self.config.first_second + second
        return self._ranks.rows(lived.ended, newest, moment, pace.collective_seconds)

    def _events(
        self, before: Progress, turns: Sequence[Progress], causes: Causes, second: int
    ) -> Iterator[Event]:
        if second == 0:
            yield from self._story.opening()
        yield from self._story.exits(causes.exit_code, second)
        yield from self._story.turns(before, turns)
        yield from self._story.xids(causes.xid, second)


def _weather(
    config: ClusterConfig, layout: Layout, individuals: Individuals, dice: Dice
) -> tuple[Influence, ...]:
    return (
        Cron(config, individuals),
        BusyHosts(config, dice),
        Congestion(config, layout, dice),
        DataStalls(config, dice),
        Air(layout),
        Mishaps(config),
        ErrorBursts(config, dice),
        HostRegimes(config, dice),
        LoneXids(config, dice),
        Wandering(config, dice),
    )
