"""Which metrics detection would miss, and the line that brings each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.ingest.contract import Entity
from paramedic.ingest.doctor.checks import Check, Level, Remedy, named
from paramedic.ingest.doctor.counters_file import doubt, paste
from paramedic.ingest.doctor.exporters import Maker
from paramedic.ingest.doctor.judging.arrivals import gpu_speakers
from paramedic.ingest.doctor.needs import GPU_NEEDS, HOST_NEEDS, Importance, Need

if TYPE_CHECKING:
    from paramedic.ingest.doctor.coverage import Row
    from paramedic.ingest.doctor.examination import Examination

GPU_SUBJECT, HOST_SUBJECT = "metrics of GPUs", "metrics of hosts"
IF_THERE = "not seen, of use where it exists"
_LEVELS = {
    Importance.NEEDED: Level.MISSING,
    Importance.WANTED: Level.WARNING,
    Importance.IF_THERE: Level.OK,
}
_BESIDE = Remedy("on each GPU host, beside it", ("dcgm-exporter -f counters.csv -c 1000",))
_PROFILING = Remedy(
    "dcgm-exporter's container, where the rows are there and nothing comes",
    ('securityContext: {capabilities: {add: ["SYS_ADMIN"]}}',),
)
_PROFILED = ("gpu_tensor_active_ratio", "gpu_dram_active_ratio", "gpu_graphics_active_ratio",
             "gpu_sm_active_ratio")  # fmt: skip


def check_metrics(seen: Examination) -> Iterator[Check]:
    """One line a need, those of GPUs first."""
    if seen.coverage.gpus:
        yield from _profiling(seen)
        for need in GPU_NEEDS:
            yield _check(seen, need, Entity.GPU)
    if seen.coverage.hosts:
        for need in HOST_NEEDS:
            yield _check(seen, need, Entity.NODE)


def _check(seen: Examination, need: Need, entity: Entity) -> Check:
    everything: set[Row] = set(seen.coverage.gpus)
    if entity is Entity.NODE:
        everything = {(node, None) for node in seen.coverage.hosts}
    there = seen.coverage.rows_of(need.metrics, entity)
    subject = GPU_SUBJECT if entity is Entity.GPU else HOST_SUBJECT
    if there == everything:
        return Check(subject, Level.OK, need.name)
    if there:
        lacking = named({node for node, _ in everything - there})
        text = f"{need.name} ({need.serves}): not on {lacking}"
        return Check(subject, _partly(need), text, _remedies(seen, need, entity))
    if _is_blank(seen, need):
        text = f"{need.name} ({need.serves}): printed as blank: these GPUs do not offer it"
        level = Level.WARNING if need.importance is Importance.NEEDED else Level.OK
        return Check(subject, level, text)
    return _absent(seen, need, entity, subject)


def _partly(need: Need) -> Level:
    return Level.OK if need.importance is Importance.IF_THERE else Level.WARNING


def _absent(seen: Examination, need: Need, entity: Entity, subject: str) -> Check:
    remedies = _remedies(seen, need, entity)
    level = _LEVELS[need.importance]
    text = f"{need.name} ({need.serves}) does not come"
    if need.importance is Importance.IF_THERE:
        return Check(IF_THERE, level, need.name, remedies)
    if entity is Entity.GPU and not remedies:
        makers = named({str(one.maker) for one in gpu_speakers(seen)})
        return Check(
            subject,
            Level.WARNING,
            f"{text}: {makers or 'the source'} does not offer it",
            (_BESIDE,),
        )
    return Check(subject, level, text, remedies)


def _is_blank(seen: Examination, need: Need) -> bool:
    return any(seen.rejected["blank_sentinel", metric] for metric in need.metrics)


def _remedies(seen: Examination, need: Need, entity: Entity) -> tuple[Remedy, ...]:
    if entity is Entity.NODE:
        return (Remedy("node_exporter's arguments", (f"--collector.{need.collector}",)),)
    dialects = {one.dialect: one for one in gpu_speakers(seen) if one.maker is Maker.DCGM}
    return tuple(
        Remedy(_where(lines, dialect), lines)
        for dialect in sorted(dialects)
        if (lines := paste(need, dialect, seen.catalogue))
    )


def _where(lines: tuple[str, ...], dialect: str) -> str:
    reasons = [doubt(line.partition(",")[0], dialect) for line in lines]
    doubts = named({reason for reason in reasons if reason is not None})
    first = f"; {doubts}: try it on one host first" if doubts else ""
    return f"the counters file of dcgm-exporter (-f){first}"


def _profiling(seen: Examination) -> Iterator[Check]:
    is_dcgm = any(one.maker is Maker.DCGM for one in gpu_speakers(seen))
    if is_dcgm and not seen.coverage.rows_of(_PROFILED, Entity.GPU):
        yield Check(
            GPU_SUBJECT,
            Level.WARNING,
            "no profiling metric (DCGM_FI_PROF_…) comes: the rows are not in the counters file,"
            " relabelling drops them, the container may not profile, or a profiler holds the GPUs",
            (_PROFILING,),
        )
