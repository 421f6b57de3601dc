"""What makes an episode harder to read and changes nothing of what happened in it.

    cadence, roles, samples, metrics, stages, machines: Episode ──▶ Episode, or None

Facts stay what they were; arrays are copied where they change. Everything drawn at random follows
from the episode's name.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from paramedic.diagnosis.benchmark.episodes import Episode
from paramedic.ingest.contract import Entity, Window
from paramedic.ingest.recordings.description import JobDescription, NodeRoles, RankRoles

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from numpy.typing import NDArray

    from paramedic.ingest.contract import Event, NodeName

_LOST_SHARE = 0.3
_HOLE_SECONDS = (1, 4)
_ROLES = frozenset(("pipeline_stage", "data_rank", "tensor_rank", "expert_group", "switch", "rack"))
_LEVELLED = (
    "gpu_sm_active_ratio", "gpu_tensor_active_ratio", "gpu_dram_active_ratio",
    "gpu_fp16_active_ratio", "gpu_fp32_active_ratio", "gpu_power_watts", "gpu_memory_used_bytes",
    "gpu_nvlink_tx_bytes_per_second", "gpu_nvlink_rx_bytes_per_second",
    "gpu_pcie_tx_bytes_per_second", "gpu_pcie_rx_bytes_per_second",
)  # fmt: skip
_LEVELS = (0.7, 1.0)
_FEWEST_TO_STAGE = 8
_SMALL = (4, 8)


def at_cadence(episode: Episode, seconds: int) -> Episode:
    """As a source tells it that samples so slowly: rates are means since the sample before."""
    windows = {entity: _sampled(one, seconds) for entity, one in _windows(episode).items()}
    description = episode.history.description
    if description is not None:
        description = replace(description, sampling_seconds=float(seconds))
    return _with(episode, windows, description)


def without_roles(episode: Episode) -> Episode:
    """Nobody says which rank does what; which GPU a rank has is told as before."""
    history = episode.history
    known = history.description
    if known is not None:
        known = replace(
            known,
            nodes=tuple(NodeRoles(one.name, one.gpus) for one in known.nodes),
            ranks=tuple(RankRoles(one.rank, one.node, one.gpu) for one in known.ranks),
        )
    events = tuple(_without_roles(event) for event in history.events)
    return Episode(episode.facts, replace(history, description=known, events=events))


def with_few_samples(episode: Episode) -> Episode:
    """Of each node's samples 30 % are not there, those that were lost already counted in."""
    rng = _rng(episode)
    hole = int(rng.choice(_HOLE_SECONDS))
    windows = {entity: _holed(one, hole, rng) for entity, one in _windows(episode).items()}
    return _with(episode, windows)


def with_few_metrics(episode: Episode) -> Episode:
    """30 % of the metrics are not there at all."""
    rng = _rng(episode)
    return _with(episode, {entity: _thinned(one, rng) for entity, one in _windows(episode).items()})


def with_stages(episode: Episode) -> Episode | None:
    """A job without stages as one whose stages differ in their level; None where it has stages."""
    description, names = episode.history.description, episode.history.nodes
    if description is None or len(names) < _FEWEST_TO_STAGE or _has_stages(description):
        return None
    stages = 4 if len(names) >= 2 * _FEWEST_TO_STAGE else 2
    stage_of = {name: at * stages // len(names) for at, name in enumerate(names)}
    levels = _rng(episode).uniform(*_LEVELS, (stages, len(_LEVELLED)))
    levels[0] = 1.0
    windows = {
        entity: _levelled(one, stage_of, levels) if entity is Entity.GPU else one
        for entity, one in _windows(episode).items()
    }
    staged = replace(
        description,
        nodes=tuple(replace(one, pipeline_stage=stage_of[one.name]) for one in description.nodes),
        ranks=tuple(replace(one, pipeline_stage=stage_of[one.node]) for one in description.ranks),
    )
    return _with(episode, windows, staged)


def of_few_machines(episode: Episode) -> Episode | None:
    """4 to 8 machines of it, as if that were the job; None unless exactly one machine breaks."""
    faults, names = episode.facts.faults, episode.history.nodes
    if len(faults) != 1 or len(faults[0].nodes) != 1:
        return None
    if len(names) <= _SMALL[1]:
        return episode
    number = int(_rng(episode).integers(_SMALL[0], _SMALL[1] + 1))
    kept = _kept(episode, faults[0].nodes[0], number)
    history = episode.history
    description = history.description
    if description is not None:
        description = replace(
            description,
            nodes=tuple(one for one in description.nodes if one.name in kept),
            ranks=tuple(one for one in description.ranks if one.node in kept),
        )
    events = tuple(one for one in history.events if one.node is None or one.node in kept)
    windows = {
        entity: _rows(one, np.array([row.node in kept for row in one.rows]))
        for entity, one in history.windows.items()
    }
    told = replace(history, windows=windows, description=description, events=events)
    return Episode(episode.facts, told)


def _windows(episode: Episode) -> Mapping[Entity, Window]:
    return episode.history.windows


def _with(
    episode: Episode,
    windows: Mapping[Entity, Window],
    description: JobDescription | None = None,
) -> Episode:
    history = episode.history
    known = history.description if description is None else description
    return Episode(episode.facts, replace(history, windows=windows, description=known))


def _rng(episode: Episode) -> np.random.Generator:
    return np.random.default_rng(crc32(episode.facts.name.encode()))


def _sampled(window: Window, seconds: int) -> Window:
    """Samples lie on multiples of the cadence, which are slots' first seconds."""
    total = window.values.shape[2]
    first = -(-(window.first_second + seconds - 1) // seconds) * seconds
    begin = first - window.first_second
    slots = max(0, (total - 1 - begin) // seconds + 1)
    since = begin + 1 - seconds
    shape = (*window.values.shape[:2], slots, seconds)
    between = window.values[:, :, since : since + slots * seconds].reshape(shape)
    values = between[..., -1].copy()
    rates = [at for at, one in enumerate(window.metrics) if one.endswith("_per_second")]
    seen = ~np.isnan(between[:, rates])
    total_of = np.where(seen, between[:, rates], 0.0).sum(axis=-1)
    is_there = ~np.isnan(values[:, rates])
    means = total_of / np.maximum(seen.sum(axis=-1), 1)
    values[:, rates] = np.where(is_there, means, np.nan)
    return replace(
        window, first_second=first, values=values, observed=~np.isnan(values), slot_seconds=seconds
    )


def _without_roles(event: Event) -> Event:
    if _ROLES.isdisjoint(event.details):
        return event
    details = {name: one for name, one in event.details.items() if name not in _ROLES}
    return replace(event, details=details)


def _holed(window: Window, hole: int, rng: np.random.Generator) -> Window:
    """Holes are a node's, in all of its rows of one kind."""
    nodes = {node: at for at, node in enumerate(sorted({row.node for row in window.rows}))}
    slots = window.values.shape[2]
    there = window.observed.any(axis=1)
    lost_already = 1.0 - float(there.mean()) if there.size else 0.0
    share = max(0.0, (_LOST_SHARE - lost_already) / (1.0 - lost_already)) if there.any() else 0.0
    lost = rng.random((len(nodes), -(-slots // hole))) < share
    by_row = lost[[nodes[row.node] for row in window.rows]]
    holes = np.repeat(by_row, hole, axis=1)[:, None, :slots]
    values = np.where(holes, np.nan, window.values).astype(window.values.dtype, copy=False)
    return replace(window, values=values, observed=window.observed & ~holes)


def _thinned(window: Window, rng: np.random.Generator) -> Window:
    number = len(window.metrics)
    kept = np.sort(rng.permutation(number)[: max(1, round(number * (1.0 - _LOST_SHARE)))])
    return replace(
        window,
        metrics=tuple(window.metrics[at] for at in kept.tolist()),
        values=window.values[:, kept],
        observed=window.observed[:, kept],
    )


def _has_stages(description: JobDescription) -> bool:
    of_nodes = {one.pipeline_stage for one in description.nodes}
    return len((of_nodes | {one.pipeline_stage for one in description.ranks}) - {None}) > 1


def _levelled(
    window: Window, stage_of: Mapping[NodeName, int], levels: NDArray[np.float64]
) -> Window:
    stages = np.array([stage_of[row.node] for row in window.rows])
    values = window.values.copy()
    for at, metric in enumerate(_LEVELLED):
        if metric in window.metrics:
            values[:, window.metrics.index(metric)] *= levels[stages, at, None]
    return replace(window, values=values)


def _kept(episode: Episode, broken: NodeName, number: int) -> Collection[NodeName]:
    """The broken machine and others, those of its stage first."""
    description, names = episode.history.description, episode.history.nodes
    stages = (
        {} if description is None else {one.node: one.pipeline_stage for one in description.ranks}
    )
    others = [name for name in names if name != broken]
    others.sort(key=lambda name: stages.get(name) != stages.get(broken))
    return {broken, *others[: number - 1]}


def _rows(window: Window, kept: NDArray[np.bool_]) -> Window:
    return replace(
        window,
        rows=tuple(row for row, is_kept in zip(window.rows, kept, strict=True) if is_kept),
        values=window.values[kept],
        observed=window.observed[kept],
    )
