"""Writes an episode as a recording, with the truth beside it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.other_physics.episode import Episode
from benchmarks.other_physics.exporters import Scraped
from benchmarks.other_physics.influences import Happening
from benchmarks.other_physics.job import Floats, Layout

_MICROSECONDS = 1_000_000
_ROWS_A_GROUP = 60_000
_WHOLE_NUMBERS = frozenset({"heartbeat", "step", "global_batch_size"})
"""Too large or too exact for half the width."""


def write_recording(episode: Episode, folder: Path, seed: int) -> None:
    """Everything into a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    dice = np.random.default_rng([seed, 7])
    clock = _Clocks(episode, dice)
    for entity, scraped in episode.entities.items():
        table = _table(episode, entity, scraped, clock)
        pq.write_table(table, folder / f"{entity}.parquet", row_group_size=_ROWS_A_GROUP)
    _write_json(folder / "job.json", _description(episode))
    _write_json(folder / "truth.json", _truth(episode))
    lines = [json.dumps(_event(episode, one)) for one in _all_happenings(episode)]
    if lines:
        (folder / "events.jsonl").write_text("\n".join(lines) + "\n")


class _Clocks:
    """What time it is on each node: nobody scrapes on the full second, and clocks are set."""

    def __init__(self, episode: Episode, dice: np.random.Generator) -> None:
        self._episode = episode
        self._dice = dice
        self._offsets = dice.uniform(0.1, 0.8, episode.plan.job.nodes)

    def microseconds(self, seconds: Floats, nodes: Floats) -> Any:
        """The time stamps of samples taken in these seconds on these nodes."""
        jitter = np.clip(self._dice.normal(0.0, 0.02, seconds.shape), -0.08, 0.15)
        times = self._episode.plan.start + seconds + self._offsets[nodes.astype(np.int64)] + jitter
        for step in self._episode.plan.nuisances.clock_steps:
            times[(nodes == step.node) & (seconds >= step.at)] += step.seconds
        return np.rint(times * _MICROSECONDS).astype(np.int64)


def _table(episode: Episode, entity: str, scraped: Scraped, clock: _Clocks) -> pa.Table:
    samples, entities = scraped.present.shape
    seconds = scraped.seconds[scraped.present]
    index = np.broadcast_to(np.arange(entities), (samples, entities))[scraped.present]
    nodes = index if entity == "node" else index // episode.plan.job.gpus
    stamps = clock.microseconds(seconds.astype(np.float64), nodes.astype(np.float64))
    order = np.argsort(stamps, kind="stable")
    columns: dict[str, pa.Array] = {
        "timestamp": pa.array(stamps[order]).cast(pa.timestamp("us", tz="UTC")),
        "node": _names(episode, nodes[order], seconds[order]),
    }
    if entity == "gpu":
        columns["gpu"] = pa.array((index % episode.plan.job.gpus)[order])
    if entity == "rank":
        columns["rank"] = pa.array(index[order])
    for name, values in scraped.columns.items():
        width = np.float64 if name in _WHOLE_NUMBERS else np.float32
        kept = values[scraped.present][order].astype(width)
        columns[name] = pa.array(kept, from_pandas=True)
    return pa.table(columns)


def _names(episode: Episode, nodes: Any, seconds: Any) -> pa.Array:
    count = episode.plan.job.nodes
    at = nodes.copy()
    for place, (node, moment) in enumerate(episode.renamed.items()):
        at[(nodes == node) & (seconds >= moment)] = count + place
    names = [_name(node) for node in range(count)]
    names += [_spare(node) for node in episode.renamed]
    return pa.array(names, pa.string()).take(pa.array(at))


def _name(node: int) -> str:
    return f"gpu-{node // 16:02d}-{node % 16:02d}"


def _spare(node: int) -> str:
    return f"gpu-spare-{node:03d}"


def _description(episode: Episode) -> dict[str, Any]:
    job = episode.plan.job
    described: dict[str, Any] = {
        "schema": 1,
        "job": job.name,
        "sampling_seconds": float(episode.plan.scrape.cadence),
        "nodes": [_node(episode, node, _name(node)) for node in range(job.nodes)],
    }
    described["nodes"] += [_node(episode, node, _spare(node)) for node in episode.renamed]
    if episode.plan.lists_ranks and not episode.renamed:
        described["ranks"] = [_rank(episode, rank) for rank in range(job.ranks)]
    return described


def _node(episode: Episode, node: int, name: str) -> dict[str, Any]:
    job = episode.plan.job
    entry: dict[str, Any] = {"name": name, "gpus": job.gpus}
    if episode.plan.has_roles:
        entry["switch"] = f"leaf-{job.switch_of(node)}"
        entry["rack"] = f"r{node // 4:02d}"
        entry |= _roles(episode, node)
    return entry


def _roles(episode: Episode, node: int) -> dict[str, int]:
    job = episode.plan.job
    roles = {"data_rank": node % (job.nodes // job.stages)}
    if job.stages > 1:
        roles["pipeline_stage"] = job.stage_of(node)
    if job.layout is Layout.EXPERT:
        roles["expert_group"] = node % 2
    return roles


def _rank(episode: Episode, rank: int) -> dict[str, Any]:
    job = episode.plan.job
    node = job.node_of(rank)
    entry: dict[str, Any] = {"rank": rank, "node": _name(node), "gpu": rank % job.gpus}
    if episode.plan.has_roles:
        entry |= _roles(episode, node)
        if job.tensor_share > 0.0:
            entry["tensor_rank"] = rank % job.gpus
        else:
            entry["data_rank"] = rank
    return entry


def _all_happenings(episode: Episode) -> list[Happening]:
    exchanged = [
        Happening(at, "membership", node, details={"change": "replaced_by", "by": _spare(node)})
        for node, at in episode.renamed.items()
    ]
    return sorted([*episode.happenings, *exchanged], key=lambda one: one.at)


def _event(episode: Episode, told: Happening) -> dict[str, Any]:
    at = datetime.fromtimestamp(episode.plan.start + told.at, UTC)
    event: dict[str, Any] = {"timestamp": at.isoformat().replace("+00:00", "Z"), "kind": told.kind}
    if told.node is not None:
        event["node"] = _name(told.node)
    if told.gpu is not None:
        event["gpu"] = told.gpu
    return event | told.details


def _truth(episode: Episode) -> dict[str, Any]:
    return {
        "kind": episode.plan.kind.value,
        "faults": [_told(episode, at) for at in range(len(episode.plan.faults))],
        "healthy": not episode.plan.faults,
        "cadence_seconds": episode.plan.scrape.cadence,
        "nodes": episode.plan.job.nodes,
        "gpus": episode.plan.job.gpus,
        "layout": episode.plan.job.layout.value,
        "step_seconds": round(episode.plan.job.step_seconds, 3),
        "start": episode.plan.start,
        "nuisances": episode.plan.nuisances.names,
        "roles": episode.plan.has_roles,
        "entities": sorted(episode.entities),
    }


def _told(episode: Episode, at: int) -> dict[str, Any]:
    fault, seen = episode.plan.faults[at], episode.seen[at]

    def unix(seconds: float | None) -> float | None:
        return None if seconds is None else round(episode.plan.start + seconds, 3)

    symptoms = None if fault.halted_at is None else round(fault.halted_at - fault.onset, 3)
    return {
        "fault": fault.kind,
        "nodes": [_name(node) for node in fault.nodes],
        "gpu": fault.gpu,
        "onset": unix(fault.onset),
        "halted_at": unix(fault.halted_at),
        "symptoms_seconds": symptoms,
        "end": unix(fault.end),
        "group": fault.is_group,
        "mechanism": fault.mechanism,
        "size": fault.size,
        "seen_in": seen.metric,
        "spreads": seen.spreads,
    }


def _write_json(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n")
