"""`paramedic decode`: what a metrics page says after cleaning."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError

from paramedic.api.command_line import extras
from paramedic.api.command_line.flags import chosen
from paramedic.api.command_line.verbs import Call, Verb

_TEACHING = """\
Reads a metrics page of any exporter that the catalogue knows, a saved answer of the Prometheus
API, a kernel or fabric manager log, or what nvidia-smi --query-gpu printed. One JSON object a line:
each value under its canonical id and in SI units, with the exporter's own name beside it; counters
as they are; events. The last line says what was left out and why, and which names are unknown.

examples:
  paramedic decode http://gpu-node-7:9400/metrics
  paramedic decode metrics.txt --node gpu-node-7 --format table
  dmesg --time-format iso | paramedic decode - --node gpu-node-7

exit codes:
  0    it was read, whatever it says
  2    it cannot be read or is something else (one line says what)
"""


def _source(text: str) -> str:
    """What was named. Raises ArgumentTypeError for nothing: a variable that is not set."""
    if not text.strip():
        raise ArgumentTypeError(
            "nothing is named: name a file, an address, or - for standard input"
        )
    return text


def _add_flags(parser: ArgumentParser) -> None:
    words = "what to read; - is standard input"
    parser.add_argument("source", metavar="FILE|URL|-", type=_source, help=words)
    chosen(
        parser,
        "--format",
        ("jsonl", "table"),
        "JSON lines on standard output, or a table on standard error (default: jsonl)",
    )
    parser.add_argument("--node", default=None, help="the node of what names none itself")


def _standard_input(size_bytes: int) -> bytes:
    import sys

    return sys.stdin.buffer.read(size_bytes)


def _execute(call: Call) -> int:
    import time

    from paramedic.api.wiring.decode import DecodeRequest, decode
    from paramedic.ingest.contract import NodeName

    flags, around = call.flags, call.surroundings
    request = DecodeRequest(
        source=flags.source,
        node=None if flags.node is None else NodeName(flags.node),
        folder=around.folder,
        now_seconds=time.time(),
        standard_input=_standard_input,
    )
    return decode(request, flags.format == "table", around.stdout, around.stderr)


DECODE = Verb(
    name="decode",
    summary="say what a metrics page, a saved answer or a log means after cleaning",
    teaching=_TEACHING,
    add_flags=_add_flags,
    packages=lambda _flags, _settings: extras.DECODE,
    execute=_execute,
    extra="ingest",
)
