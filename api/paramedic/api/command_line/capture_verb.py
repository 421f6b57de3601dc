"""`paramedic capture`: live telemetry to a recording, and an always-on past with a size cap."""

from __future__ import annotations

import math
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from paramedic.api.command_line import extras
from paramedic.api.command_line.bus_flag import existing_bus
from paramedic.api.command_line.errors import UsageError
from paramedic.api.command_line.flags import filled, moment, path, positive, switch, valued
from paramedic.api.command_line.source_flags import (
    SETTING_FLAGS,
    add_source_flags,
    packages_of_sources,
    source_request,
)
from paramedic.api.command_line.verbs import Call, Verb
from paramedic.api.settings.schema import Settings

_TEACHING = """\
A recording is a folder of Parquet files that `paramedic replay` reads, and anything else that reads
Parquet. Telemetry comes from a bus, or straight from sources as `paramedic collect` reads them. The
folder can be read at any time, also after a crash. On a full disk what is there stays, and
recording goes on when there is room.

examples:
  paramedic capture --bus kafka://broker.example:9092 --job llama-7b --out recordings/a
  paramedic capture --prometheus http://prometheus:9090 --seconds 600 --out recordings/b
  paramedic capture --prometheus http://prometheus:9090 --past 3600 --seconds 5 --out recordings/c
  paramedic capture --bus kafka://broker.example:9092 --ring --cap-gigabytes 20 --out ring
  paramedic capture --cut ring --from 2026-01-01T00:10:00Z --to 2026-01-01T00:20:00Z --out d

exit codes:
  0    the seconds are over, or ended by SIGTERM or Ctrl-C; what was recorded is complete
  1    there is no recording, or the disk did not take all of it (`lost` in the last line)
  2    something cannot work (one line says what)
"""
_CAP_GIGABYTES = 20.0
_SEGMENT_MINUTES = 10.0


def _add_flags(parser: ArgumentParser) -> None:
    valued(parser, "--out", "FOLDER", "the recording, or the ring", path, required=True)
    valued(
        parser,
        "--seconds",
        "N",
        "how long to record (default: until ended)",
        positive,
        math.inf,
    )
    jobs = parser.add_mutually_exclusive_group()
    valued(jobs, "--job", "NAME", "(default: the first that is heard of)")
    switch(jobs, "--every-job", "a recording for each job, in FOLDER/JOB")
    past = "with --prometheus: begin so far back (default: now)"
    valued(parser, "--past", "SECONDS", past, positive, 0.0)
    _add_ring_flags(parser)
    _add_cut_flags(parser)
    add_source_flags(parser)


def _add_ring_flags(parser: ArgumentParser) -> None:
    ring = parser.add_argument_group("the last hours, always on")
    switch(ring, "--ring", "keep every job's last hours in FOLDER/JOB/START; the oldest goes first")
    cap = f"how large the ring may become (default: {_CAP_GIGABYTES:g})"
    valued(ring, "--cap-gigabytes", "N", cap, positive, _CAP_GIGABYTES)
    segment = f"how long a segment is (default: {_SEGMENT_MINUTES:g})"
    valued(ring, "--segment-minutes", "N", segment, positive, _SEGMENT_MINUTES)


def _add_cut_flags(parser: ArgumentParser) -> None:
    cut = parser.add_argument_group("out of what was recorded")
    valued(
        cut,
        "--cut",
        "FOLDER",
        "record nothing: cut a stretch of time out of this ring or recording",
        path,
    )
    first = "such as 2026-01-01T00:10:00Z (default: the beginning)"
    valued(cut, "--from", "TIME", first, moment, dest="first")
    valued(cut, "--to", "TIME", "(default: the end)", moment, dest="last")


def _packages(flags: Namespace, settings: Settings) -> Sequence[str]:
    return (*extras.RECORDINGS, *packages_of_sources(flags), *extras.of_bus(settings))


def _execute(call: Call) -> int:
    if call.flags.cut is not None:
        return _cut(call)
    if call.flags.first is not None or call.flags.last is not None:
        raise UsageError("--from and --to go with --cut FOLDER")
    if call.flags.ring and (call.flags.job is not None or call.flags.every_job):
        raise UsageError("--ring keeps every job: leave --job and --every-job out")
    sources = source_request(call)
    address = existing_bus(call, "capture without sources") if sources.is_empty else None
    from paramedic.api.wiring.capture import CaptureRequest, RingWanted, capture

    flags, around = call.flags, call.surroundings
    request = CaptureRequest(
        out=around.folder / flags.out,
        bus_address=address,
        sources=sources,
        settings=call.settings,
        seconds=flags.seconds,
        job=flags.job,
        every_job=flags.every_job,
        past_seconds=flags.past,
        ring=RingWanted(flags.cap_gigabytes, flags.segment_minutes) if flags.ring else None,
    )
    return capture(request, around.stdout, around.stderr)


def _cut(call: Call) -> int:
    from paramedic.api.wiring.capture import CutRequest, cut_out

    flags, around = call.flags, call.surroundings
    if None not in (flags.first, flags.last) and flags.first > flags.last:
        first, last = flags.first.isoformat(), flags.last.isoformat()
        raise UsageError(f"--from {first} is later than --to {last}: exchange them")
    source, out = around.folder / flags.cut, around.folder / flags.out
    return cut_out(filled(CutRequest, flags, source=source, out=out), around.stdout)


CAPTURE = Verb(
    name="capture",
    summary="record live telemetry, or keep the last hours of it",
    teaching=_TEACHING,
    setting_flags={"--bus": "bus.address", **SETTING_FLAGS},
    add_flags=_add_flags,
    packages=_packages,
    execute=_execute,
    extra="ingest",
)
