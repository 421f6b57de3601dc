"""What is told beside the telemetry: which fault, where, from when to when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from paramedic.ingest.contract import format_time
from paramedic.ingest.synthetic.faults.catalogue import kind_of
from paramedic.ingest.synthetic.faults.instance import completed
from paramedic.ingest.synthetic.faults.place import nodes_of
from paramedic.ingest.synthetic.faults.plan import FaultPlan
from paramedic.ingest.synthetic.layout import Layout

Label = Mapping[str, str | int | float | list[str] | None]


def label_of(plan: FaultPlan, layout: Layout, first_second: int) -> Label:
    """What a label file says of the fault: kind, place, RFC 3339 times, strength, effects."""
    whole = completed(plan)
    return {
        "kind": plan.kind,
        "node": plan.node,
        "nodes": [*nodes_of(plan, layout, kind_of(plan.kind).is_group)],
        "gpu": plan.gpu,
        "onset": _time(first_second, whole.onset),
        "end": _time(first_second, whole.end),
        "strength": plan.strength,
        "effects": [one.effect for one in whole.symptoms],
        "stop": None if whole.stop is None else whole.stop.kind.value,
        "stopped_at": None if whole.stop is None else _time(first_second, whole.stop.at),
        "halted_at": None if whole.stop is None else _time(first_second, whole.stop.aborts_at),
    }


def labels_of(
    plans: Sequence[FaultPlan], layout: Layout, first_second: int
) -> Mapping[str, object]:
    """The whole label file."""
    return {"schema": 1, "faults": [label_of(plan, layout, first_second) for plan in plans]}


def _time(first_second: int, offset: int | None) -> str | None:
    if offset is None:
        return None
    return format_time(datetime.fromtimestamp(first_second + offset, UTC))
