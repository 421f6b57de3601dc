"""Reads job and roles from the labels of a row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from paramedic.ingest.contract import JobName

if TYPE_CHECKING:
    from paramedic.ingest.collect.configuration import LabelSettings

Role = str | int
_LONGEST_NAME = 200
"""Characters of a job's name; a key holds it with its shard."""


def job_of(labels: Mapping[str, str], settings: LabelSettings) -> JobName | None:
    """The job that the labels name; None when none does. Empty labels are absent ones."""
    for name in settings.job_labels:
        value = _value(labels, name)
        if value is not None:
            return JobName(value[:_LONGEST_NAME])
    return None


def roles_of(labels: Mapping[str, str], settings: LabelSettings) -> dict[str, Role]:
    """The roles that the labels name: whole numbers as such, anything else as text."""
    found = {role: _value(labels, name) for role, name in settings.role_labels.items()}
    return {role: _role(value) for role, value in found.items() if value is not None}


def roles_of_node(of_gpus: Mapping[int, Mapping[str, Role]]) -> dict[str, Role]:
    """The roles of a node's GPUs as details of one event.

    `pipeline_stage` where all agree, `pipeline_stage_of_gpu_3` where they differ.
    """
    details: dict[str, Role] = {}
    for role in sorted({role for roles in of_gpus.values() for role in roles}):
        values = {gpu: roles[role] for gpu, roles in of_gpus.items() if role in roles}
        if len(set(values.values())) == 1 and len(values) == len(of_gpus):
            details[role] = next(iter(values.values()))
        else:
            details |= {f"{role}_of_gpu_{gpu}": values[gpu] for gpu in sorted(values)}
    return details


def _value(labels: Mapping[str, str], name: str) -> str | None:
    # What was exported comes first: the plain name may then speak of the exporter's own pod.
    for form in _forms(name):
        value = labels.get(form, "").strip()
        if value:
            return value
    return None


def _forms(name: str) -> Iterable[str]:
    return (f"exported_{name}", f"exported_label_{name}", name, f"label_{name}")


def _role(value: str) -> Role:
    return int(value) if value.isascii() and value.isdecimal() else value
