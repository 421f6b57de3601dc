"""Dumps of a job of four ranks in two tensor groups, with what each has begun and not completed."""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

# Two tensor groups, and two groups over them, as in a job of two stages.
GROUPS = {"t0": (0, 1), "t1": (2, 3), "p0": (0, 2), "p1": (1, 3)}
NAMES = {"t0": "TENSOR", "t1": "TENSOR", "p0": "STAGES", "p1": "STAGES"}
RANK_3_HANGS: dict[int, list[tuple[str, int]]] = {2: [("t1", 50)], 0: [("p0", 7)], 1: [("p1", 7)]}
Pending = Mapping[int, Sequence[tuple[str, int]]]


def content(rank: int, pending: Pending, begun_seconds: float) -> dict[str, Any]:
    """What the recorder of a rank held; all of it was begun at one time."""
    own = {name: ranks for name, ranks in GROUPS.items() if rank in ranks}
    entries = [
        {"process_group": (group, NAMES[group]), "collective_seq_id": number, "state": "scheduled",
         "is_p2p": False, "time_created_ns": int(begun_seconds * 1e9)}
        for group, number in pending.get(rank, ())
    ]  # fmt: skip
    done = {"process_group": ("t0", "TENSOR"), "collective_seq_id": 1, "state": "completed"}
    config = {name: {"ranks": str(list(r)), "desc": NAMES[name]} for name, r in own.items()}
    return {"pg_config": config, "entries": [done, *entries]}


def written(
    folder: Path, pending: Pending, begun_seconds: float = 0.0, *, pickled: bool = False
) -> Path:
    """The dumps of all four, as PyTorch writes them or as JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    for rank in range(4):
        held = content(rank, pending, begun_seconds)
        if pickled:
            (folder / f"nccl_trace_rank_{rank}").write_bytes(pickle.dumps(held, protocol=2))
        else:
            (folder / f"rank{rank:02}.json").write_text(json.dumps(held))
    return folder
