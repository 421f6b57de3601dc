"""What is known of a recording besides its telemetry: `truth.json` in its folder.

    {"kind": "single", "healthy": false, "cadence_seconds": 1, "nodes": 16,
     "faults": [{"fault": "ecc_error", "nodes": ["n3"], "gpu": 2, "onset": 1767225960,
                 "halted_at": null, "end": null, "group": false}]}

From `halted_at` on the machine, and with it the job, stands still; when the ranks give up waiting
may be told as `ended_at`. `replay` never looks at the file. Other fields are left alone.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from paramedic.diagnosis.benchmark.episodes import Facts, Fault, Part
from paramedic.diagnosis.benchmark.errors import TruthError
from paramedic.ingest.contract import JobName, NodeName

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

TRUTH_FILE = "truth.json"


def read_facts(folder: Path, name: str, seconds: range) -> Facts:
    """The facts of a recording that spans these seconds, under this name. Raises TruthError."""
    file = folder / TRUTH_FILE
    try:
        fields = json.loads(file.read_text(encoding="utf-8"))
        return Facts(
            name=name,
            job=JobName(name),
            part=Part.TEST,
            nodes=int(fields["nodes"]),
            first_second=seconds.start,
            seconds=len(seconds),
            faults=tuple(_fault(one) for one in fields["faults"]),
            setting=str(fields.get("kind", "")),
        )
    except OSError as error:
        raise TruthError(f"{file} cannot be read: {error.strerror}") from error
    except (KeyError, TypeError, ValueError) as error:
        raise TruthError(f"{file} does not say what was broken: {error!r}") from error


def _fault(fields: Mapping[str, Any]) -> Fault:
    return Fault(
        kind=str(fields["fault"]),
        nodes=tuple(NodeName(name) for name in fields["nodes"]),
        onset=math.floor(fields["onset"]),
        end=_second(fields.get("end")),
        halted_at=_second(fields.get("ended_at")),
        stopped_at=_second(fields.get("halted_at")),
        loudness=str(fields.get("size", "")),
        is_group=bool(fields.get("group", False)),
        gpu=fields.get("gpu"),
    )


def _second(moment: float | None) -> int | None:
    return None if moment is None else math.floor(moment)
