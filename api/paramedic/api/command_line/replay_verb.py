"""`paramedic replay`: what diagnosis says about a recording."""

from __future__ import annotations

import math
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from paramedic.api.command_line import extras
from paramedic.api.command_line.errors import UsageError
from paramedic.api.command_line.flags import chosen, path, positive, valued
from paramedic.api.command_line.verbs import Call, Verb
from paramedic.api.settings.schema import Settings

if TYPE_CHECKING:
    from paramedic.api.wiring.replay import ReplayRequest

_TEACHING = """\
Reads a recording as the live run saw it and judges it as the live run would have: the same windows,
the same detector, the recording's own time. Verdicts are printed as they come, one JSON object a
line. The same recording gives the same bytes, at any speed.

examples:
  paramedic replay recordings/a
  paramedic replay recordings/a --format table
  paramedic replay recordings/a --flight-recorder dumps/a
  paramedic replay recordings/a --speed 1 --bus kafka://broker.example:9092

exit codes:
  0    it was replayed, whatever was found
  2    the recording cannot be used (one line says which file, column and row, and what to do)
  130  Ctrl-C
"""


def _speed(text: str) -> float:
    """The speed that was given. Raises ArgumentTypeError."""
    if text == "max":
        return math.inf
    try:
        return positive(text)
    except ArgumentTypeError as error:
        raise ArgumentTypeError(f"{text!r} is neither max nor a number above 0") from error


def _add_flags(parser: ArgumentParser) -> None:
    parser.add_argument("folder", metavar="FOLDER", type=path, help="the recording")
    valued(
        parser,
        "--speed",
        "max|N",
        "seconds of the recording in a second of the clock (default: max)",
        _speed,
        math.inf,
    )
    chosen(
        parser,
        "--format",
        ("jsonl", "table"),
        "JSON lines on standard output, or a table on standard error (default: jsonl)",
    )
    valued(
        parser,
        "--flight-recorder",
        "DIR",
        "dumps of the job's flight recorders: whom they name in a hang is accused",
        path,
    )
    valued(
        parser,
        "--bus",
        "ADDRESS",
        "judge nothing: publish the recording on this bus, such as kafka://HOST:PORT",
    )


def _packages(flags: Namespace, _settings: Settings) -> Sequence[str]:
    is_kafka = flags.bus is not None and flags.bus.startswith("kafka")
    return (*extras.RECORDINGS, *(extras.KAFKA if is_kafka else ()))


def _execute(call: Call) -> int:
    flags, around = call.flags, call.surroundings
    if flags.bus is None:
        return _judge(call)
    if flags.format == "table":
        raise UsageError(
            "--bus publishes and judges nothing, so --format table has nothing to show"
        )
    from paramedic.api.wiring.republish import RepublishRequest, republish

    onto = RepublishRequest(_request(call), flags.bus, call.settings, around.environment)
    return republish(onto, around.stderr)


def _judge(call: Call) -> int:
    from paramedic.ingest.recordings.opening import being_opened

    around = call.surroundings
    with being_opened(around.folder / call.flags.folder) as opening:
        # What judges is loaded meanwhile.
        from paramedic.api.wiring.replay import replay

        request = _request(call)
        return replay(request, call.settings, around.stdout, around.stderr, opening=opening)


def _request(call: Call) -> ReplayRequest:
    from paramedic.api.wiring.replay import ReplayRequest

    flags, folder = call.flags, call.surroundings.folder
    dumps = None if flags.flight_recorder is None else folder / flags.flight_recorder
    return ReplayRequest(folder / flags.folder, flags.speed, flags.format == "table", dumps)


REPLAY = Verb(
    name="replay",
    summary="judge a recording as the live run would have been judged",
    teaching=_TEACHING,
    add_flags=_add_flags,
    packages=_packages,
    execute=_execute,
)
