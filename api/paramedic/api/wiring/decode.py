"""Says what a metrics page, a saved answer, a log or an nvidia-smi table means after cleaning."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, TextIO
from urllib.parse import urlsplit

from paramedic.api.wiring.errors import InputError
from paramedic.api.wiring.telling import say, tell, tell_lines
from paramedic.ingest.cleaning.cleaner import TelemetryCleaner
from paramedic.ingest.cleaning.explaining import CleanSample
from paramedic.ingest.contract import NodeName, format_time
from paramedic.ingest.exposition.contents import Contents, contents_of
from paramedic.ingest.exposition.foreign_bytes import foreign_bytes
from paramedic.ingest.exposition.parser import ExpositionParser
from paramedic.ingest.exposition.query_answer import pages_of_answer
from paramedic.ingest.exposition.smi_query import pages_of_smi_query
from paramedic.ingest.sources.kernel.kernel_log import KernelLog
from paramedic.ingest.sources.kernel.messages import should_tell
from paramedic.ingest.sources.kernel.stamps import Era

if TYPE_CHECKING:
    from paramedic.ingest.sources.port import NodeFact, RawPage

_TIMEOUT_SECONDS = 15.0
_LIMIT_BYTES = 64 * 1024 * 1024
_FROM_STANDARD_INPUT = "-"
_HEADINGS = ("metric", "value", "node", "gpu", "source")
_READ = "a metrics page, an answer of the Prometheus API, a kernel log or an nvidia-smi table"

Line = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class DecodeRequest:
    """What is to be decoded."""

    source: str
    """A file, an http(s) address, or - for standard input."""
    node: NodeName | None
    """The node of what names none."""
    folder: Path
    now_seconds: float
    """For years that are not told, and to ask at; what says no time gets no timestamp."""
    standard_input: Callable[[int], bytes]
    """Gives at most so many bytes."""
    limit_bytes: int = _LIMIT_BYTES
    """More is not read: an answer or a device may have no end."""


def decode(request: DecodeRequest, as_table: bool, stdout: TextIO, stderr: TextIO) -> int:
    """Print what the source says. Raises InputError when it cannot be read or decoded."""
    lines, summary = _decoded(read_text(request), request)
    if any(line.get("node", "") is None for line in lines):
        say(stderr, "no_node: nothing tells whose some of this is: name the host with --node")
    if as_table:
        tell_lines(stderr, _table(lines, summary))
    else:
        tell(stdout, "".join(f"{json.dumps(line)}\n" for line in [*lines, summary]))
    return 0


def read_text(request: DecodeRequest) -> str:
    """The source as text. Raises InputError when it cannot be read or is none."""
    data = read_source(request)
    foreign = foreign_bytes(data)
    if foreign is not None:
        raise _not_read(request, foreign)
    return data.decode("utf-8", "replace")


def read_source(request: DecodeRequest) -> bytes:
    """What a file, an address or standard input holds, if it is not too much. Raises InputError."""
    try:
        data = _at_most(request, request.limit_bytes + 1)
    except (OSError, ValueError, HTTPException) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise InputError(f"{request.source} cannot be read: {reason}") from error
    if len(data) > request.limit_bytes:
        raise InputError(
            f"{request.source} holds more than {request.limit_bytes} bytes, which is the most that"
            " is read: give a part of it"
        )
    return data


def _at_most(request: DecodeRequest, size_bytes: int) -> bytes:
    """The first bytes. Raises OSError, ValueError or HTTPException."""
    if request.source == _FROM_STANDARD_INPUT:
        return request.standard_input(size_bytes)
    if urlsplit(request.source).scheme in ("http", "https"):
        return _fetched(request.source, size_bytes)
    with (request.folder / request.source).open("rb") as file:
        return file.read(size_bytes)


def _fetched(url: str, size_bytes: int) -> bytes:
    from urllib.request import Request, urlopen

    _ = urlsplit(url).port  # raises ValueError; the resolver takes 99999 for 34463
    asked = Request(url, headers={"Accept": "text/plain;version=0.0.4"})
    with urlopen(asked, timeout=_TIMEOUT_SECONDS) as answer:
        page: bytes = answer.read(size_bytes)
    return page


def _decoded(text: str, request: DecodeRequest) -> tuple[list[Line], Line]:
    """Every line, and the last one."""
    contents = contents_of(text)
    if contents is Contents.LOG:
        return _logged(text, request)
    lines, rejected, uncatalogued = _cleaned(pages_of(text, contents, request), request)
    if not lines and not uncatalogued and set(rejected) == {"bad_time"}:
        raise InputError(f"{request.source}: none of its samples has a time that can be one")
    return lines, _summary(rejected, uncatalogued)


def _logged(text: str, request: DecodeRequest) -> tuple[list[Line], Line]:
    """The events of a log, and how many of its errors nobody can read."""
    log, era = KernelLog(request.node or NodeName("")), Era(request.now_seconds)
    lines: list[Line] = []
    rejected: Counter[str] = Counter()
    for line in text.splitlines():
        facts = log.facts(line, era)
        lines += [_event(fact, request) for fact in facts]
        if not facts and should_tell(line):
            rejected["unreadable_xid"] += 1
    return lines, _summary(rejected, set())


def pages_of(text: str, contents: Contents | str, request: DecodeRequest) -> list[RawPage]:
    """The pages in a text that holds no log. Raises InputError when it holds something else."""
    node = request.node or NodeName(_host_of(request.source))
    match contents:
        case Contents.PAGE:
            return [ExpositionParser(request.source, node).parse(text, request.now_seconds)]
        case Contents.ANSWER:
            return pages_of_answer(text, request.source)
        case Contents.SMI_QUERY:
            return pages_of_smi_query(text, request.source, request.now_seconds, node)
        case _:
            raise _not_read(request, contents)


def _not_read(request: DecodeRequest, what: str) -> InputError:
    return InputError(f"{request.source} is {what}; decode reads {_READ}")


def _cleaned(
    pages: list[RawPage], request: DecodeRequest
) -> tuple[list[Line], Counter[str], set[str]]:
    cleaner = TelemetryCleaner()
    lines: list[Line] = []
    rejected: Counter[str] = Counter()
    uncatalogued: set[str] = set()
    for page in pages:
        clean, samples = cleaner.explain(page)
        stamp = _stamp(page.taken_seconds, request)
        lines += [_sample(sample) | stamp for sample in samples]
        lines += [_event(fact, request) for fact in clean.facts]
        for (reason, _), count in clean.rejected.items():
            rejected[reason] += count
        uncatalogued.update(clean.uncatalogued)
    return lines, rejected, uncatalogued


def _sample(sample: CleanSample) -> dict[str, object]:
    return {
        "metric": sample.metric,
        "value": sample.value,
        "node": sample.node or None,
        "gpu": sample.gpu,
        "uuid": sample.uuid,
        "source": sample.source,
        "labels": dict(sample.labels),
    }


def _event(fact: NodeFact, request: DecodeRequest) -> Line:
    place = {"node": fact.node or None} | ({} if fact.gpu is None else {"gpu": fact.gpu})
    stamp = _stamp(fact.timestamp_seconds, request)
    return {**fact.details, **stamp, "kind": fact.kind.value, **place}


def _stamp(seconds: float, request: DecodeRequest) -> dict[str, object]:
    """Nothing where it is the moment of decoding: the source told no time."""
    return {} if seconds == request.now_seconds else {"timestamp": _time(seconds)}


def _summary(rejected: Counter[str], uncatalogued: set[str]) -> Line:
    return {"rejected": dict(sorted(rejected.items())), "uncatalogued": sorted(uncatalogued)}


def _time(seconds: float) -> str:
    return format_time(datetime.fromtimestamp(seconds, UTC))


def _host_of(source: str) -> str:
    """The exporter's host; empty for a file, which tells nothing."""
    return urlsplit(source).hostname or "" if "://" in source else ""


def _table(lines: list[Line], summary: Line) -> Iterator[str]:
    """The same for people."""
    rows = [tuple(_cell(line.get(heading)) for heading in _HEADINGS) for line in lines]
    rows = [row if row[0] else _event_row(line) for row, line in zip(rows, lines, strict=True)]
    widths = [max(map(len, column)) for column in zip(_HEADINGS, *rows, strict=True)]
    for row in (_HEADINGS, *rows):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()
    for title, said in summary.items():
        yield f"{title}: {json.dumps(said)}"


def _event_row(line: Line) -> tuple[str, ...]:
    known = ("timestamp", "kind", "node", "gpu")
    details = " ".join(f"{key}={value}" for key, value in line.items() if key not in known)
    timestamp, kind, node, gpu = (_cell(line.get(key)) for key in known)
    return (kind, details, node, gpu, timestamp)


def _cell(value: object) -> str:
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:.6g}"
    return "" if value is None else str(value)
