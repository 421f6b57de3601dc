"""What is known of a recording besides its telemetry: `truth.json` in its folder.

    {"kind": "single", "healthy": false, "cadence_seconds": 1, "nodes": 16,
     "faults": [{"fault": "ecc_error", "nodes": ["n3"], "gpu": 2, "onset": 1767225960,
                 "halted_at": null, "end": null, "group": false}]}

From `halted_at` on the machine, and with it the job, stands still; when the ranks give up waiting
may be told as `ended_at`. `replay` never looks at the file. Other fields are left alone.

It is no label file (`models/histories/labels.py`), which says the same in other words: `kind` for
`fault`, times such as 2026-01-01T00:11:12Z, `stopped_at` for `halted_at`, `halted_at` for
`ended_at`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramedic.diagnosis.benchmark.episodes import Facts, Fault, Part
from paramedic.diagnosis.benchmark.errors import TruthError
from paramedic.ingest.contract import JobName, NodeName
from paramedic.ingest.json_fields import JsonObject, read_json
from paramedic.ingest.recordings.description import MOST, MOST_GPUS

if TYPE_CHECKING:
    from pathlib import Path

TRUTH_FILE = "truth.json"
_NO_LABELS = "a label file says {}, a truth.json says {}: docs/detection-benchmark.md"
_LAST_SECOND = 253_402_300_799.0
"""Of the year 9999; milliseconds are far beyond it."""
_SECONDS = "Unix seconds, such as 1767226260, and no text: " + _NO_LABELS.format(
    "times as 2026-01-01T00:11:12Z", "seconds"
)


@dataclass(frozen=True, slots=True)
class Truth:
    """What the file says."""

    nodes: int
    faults: tuple[Fault, ...]
    kind: str

    def facts(self, name: str, seconds: range) -> Facts:
        """Of the recording, which spans these seconds, under this name."""
        return Facts(
            name=name,
            job=JobName(name),
            part=Part.TEST,
            nodes=self.nodes,
            first_second=seconds.start,
            seconds=len(seconds),
            faults=self.faults,
            setting=self.kind,
        )


def read_truth(folder: Path) -> Truth:
    """What is known of the recording in a folder. Raises TruthError."""
    file = folder / TRUTH_FILE
    try:
        told = JsonObject(file, read_json(file, TruthError), TruthError)
    except OSError as error:
        raise TruthError(f"{file} cannot be read: {error.strerror}") from error
    told.required("faults", 'add it; "faults": [] says that nothing broke')
    return Truth(
        nodes=told.whole("nodes", MOST),
        faults=tuple(_fault(one) for one in told.objects("faults")),
        kind=str(told.value.get("kind", "")),
    )


def _fault(told: JsonObject[TruthError]) -> Fault:
    has_kind = "kind" in told.value
    words = f"add it ({_NO_LABELS.format('`kind`', '`fault`')})" if has_kind else "add it"
    return Fault(
        kind=told.text("fault", words),
        nodes=tuple(map(NodeName, told.texts("nodes"))),
        onset=_second(told, "onset"),
        end=_second_or_none(told, "end"),
        halted_at=_second_or_none(told, "ended_at"),
        stopped_at=_second_or_none(told, "halted_at"),
        loudness=str(told.value.get("size", "")),
        is_group=told.flag("group"),
        gpu=None if told.value.get("gpu") is None else told.whole("gpu", MOST_GPUS),
    )


def _second(told: JsonObject[TruthError], name: str) -> int:
    return math.floor(told.number(name, _LAST_SECOND, _SECONDS))


def _second_or_none(told: JsonObject[TruthError], name: str) -> int | None:
    return None if told.value.get(name) is None else _second(told, name)
