"""`paramedic capture`: live telemetry to a recording, and an always-on past with a size cap."""

from __future__ import annotations

import math
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from datetime import UTC, datetime

from paramedic.api.command_line import extras
from paramedic.api.command_line.bus_flag import existing_bus
from paramedic.api.command_line.errors import UsageError
from paramedic.api.command_line.paths import path
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
  2    something cannot work (one line says what)
"""
_CAP_GIGABYTES = 20.0
_SEGMENT_MINUTES = 10.0


def _moment(text: str) -> datetime:
    """The time that was given; one without a zone is UTC. Raises ArgumentTypeError."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is no time such as 2026-01-01T00:10:00Z") from error
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _positive(text: str) -> float:
    """A number above 0. Raises ArgumentTypeError."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < math.inf:
        raise ArgumentTypeError(f"{text!r} is no number above 0")
    return number


def _add_flags(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--out", metavar="FOLDER", type=path, required=True, help="the recording, or the ring"
    )
    parser.add_argument(
        "--seconds", metavar="N", type=_positive, default=math.inf,
        help="how long to record (default: until ended)",
    )  # fmt: skip
    jobs = parser.add_mutually_exclusive_group()
    jobs.add_argument(
        "--job", metavar="NAME", default=None, help="(default: the first that is heard of)"
    )
    jobs.add_argument(
        "--every-job", action="store_true", help="a recording for each job, in FOLDER/JOB"
    )
    parser.add_argument(
        "--past", metavar="SECONDS", type=_positive, default=0.0,
        help="with --prometheus: begin so far back (default: now)",
    )  # fmt: skip
    _add_ring_flags(parser)
    _add_cut_flags(parser)
    add_source_flags(parser)


def _add_ring_flags(parser: ArgumentParser) -> None:
    ring = parser.add_argument_group("the last hours, always on")
    ring.add_argument(
        "--ring", action="store_true",
        help="keep every job's last hours in FOLDER/JOB/START; the oldest goes first",
    )  # fmt: skip
    ring.add_argument(
        "--cap-gigabytes", metavar="N", type=_positive, default=_CAP_GIGABYTES,
        help=f"how large the ring may become (default: {_CAP_GIGABYTES:g})",
    )  # fmt: skip
    ring.add_argument(
        "--segment-minutes", metavar="N", type=_positive, default=_SEGMENT_MINUTES,
        help=f"how long a segment is (default: {_SEGMENT_MINUTES:g})",
    )  # fmt: skip


def _add_cut_flags(parser: ArgumentParser) -> None:
    cut = parser.add_argument_group("out of what was recorded")
    cut.add_argument(
        "--cut", metavar="FOLDER", type=path, default=None,
        help="record nothing: cut a stretch of time out of this ring or recording",
    )  # fmt: skip
    cut.add_argument("--from", dest="first", metavar="TIME", type=_moment, default=None,
                     help="such as 2026-01-01T00:10:00Z (default: the beginning)")  # fmt: skip
    cut.add_argument("--to", dest="last", metavar="TIME", type=_moment, default=None,
                     help="(default: the end)")  # fmt: skip


def _packages(flags: Namespace, settings: Settings) -> Sequence[str]:
    kafka = extras.KAFKA if settings.bus.address.startswith("kafka") else ()
    return (*extras.RECORDINGS, *packages_of_sources(flags), *kafka)


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
    request = CutRequest(
        source=around.folder / flags.cut,
        out=around.folder / flags.out,
        first=flags.first,
        last=flags.last,
        job=flags.job,
    )
    return cut_out(request, around.stdout)


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
