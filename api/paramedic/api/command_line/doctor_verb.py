"""`paramedic doctor`: what arrives from here, what detection would miss, and what to change."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from paramedic.api.command_line import extras
from paramedic.api.command_line.errors import UsageError
from paramedic.api.command_line.flags import chosen, path, positive, repeated, valued, whole
from paramedic.api.command_line.source_flags import (
    SETTING_FLAGS,
    add_source_flags,
    packages_of_sources,
    source_request,
)
from paramedic.api.command_line.verbs import Call, Verb
from paramedic.api.settings.schema import Settings

if TYPE_CHECKING:
    from paramedic.api.wiring.source_request import SourceRequest

_TEACHING = """\
Looks for some seconds at what comes, and says what detection would miss: who speaks and who is
silent, how often the data really say something new, which metrics lack and the line that brings
each, how jobs would be found, whose clock is off, what was left out, and how the pattern model
fits. Changes nothing. With --recording it says instead what has drifted since that model was
trained; with --storage it measures a place for checkpoints, and leaves nothing there.

examples:
  paramedic doctor --prometheus http://prometheus:9090
  paramedic doctor --exporters hosts.txt --seconds 60
  curl -s http://gpu-node-7:9400/metrics | paramedic doctor -
  paramedic doctor --recording recordings/this-week
  paramedic doctor --storage /checkpoints --state-gigabytes 10,100 --nodes 16

exit codes:
  0    detection within a minute would hold, whatever the warnings; or the place was measured
  1    it would not: what is missing comes first
  2    something cannot be read, asked or measured (one line says what)
"""
_SECONDS = 15.0
_STATES = (1.0, 10.0, 100.0)
_FAILURES = 3.8


def _sizes(text: str) -> tuple[float, ...]:
    """Numbers above 0 with commas between them. Raises ArgumentTypeError."""
    return tuple(positive(part) for part in text.split(","))


def _nodes(text: str) -> int:
    """A whole number above 0. Raises ArgumentTypeError."""
    return whole(text, 1)


def _add_flags(parser: ArgumentParser) -> None:
    page = "look at one metrics page or saved answer instead of live sources"
    parser.add_argument("page", metavar="FILE|URL|-", nargs="?", default=None, help=page)
    seconds = f"how long to look (default: {_SECONDS:g})"
    valued(parser, "--seconds", "N", seconds, positive, _SECONDS)
    form = "lines for people on standard error, or one JSON object on standard output"
    chosen(parser, "--format", ("text", "json"), f"{form} (default: text)")
    _add_drift_flags(parser)
    _add_storage_flags(parser)
    add_source_flags(parser)


def _add_drift_flags(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("the pattern model")
    words = "say what of it has drifted since the model was trained"
    repeated(group, "--recording", "FOLDER", words, dest="recordings")
    model = "a version, a model folder or shipped (default: the one in use)"
    valued(group, "--model", "MODEL", model)


def _add_storage_flags(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("a place for checkpoints")
    place = "measure writing, reading and small files there: up to 1 GiB or 10 s each"
    valued(group, "--storage", "FOLDER", place, path)
    states = "sizes of the training state (default: 1,10,100)"
    valued(group, "--state-gigabytes", "N,N", states, _sizes, _STATES)
    valued(group, "--nodes", "N", "nodes of the job (default: 1)", _nodes, 1)
    failures = f"how often a node's failure stops the job (default: {_FAILURES:g})"
    flag = "--failures-per-1000-node-days"
    valued(group, flag, "N", failures, positive, _FAILURES, dest="failures")


def _packages(flags: Namespace, settings: Settings) -> Sequence[str]:
    del settings
    if flags.recordings:
        return extras.DRIFT
    return () if flags.storage is not None else packages_of_sources(flags)


def _execute(call: Call) -> int:
    sources = source_request(call)
    flags = call.flags
    asked = [not sources.is_empty, flags.page is not None, flags.storage is not None]
    if sum([*asked, bool(flags.recordings)]) > 1:
        raise UsageError("name either sources, or one page, or --storage, or --recording")
    if flags.model is not None and not flags.recordings:
        raise UsageError("--model goes with --recording")
    if flags.recordings:
        return _drift(call)
    if flags.storage is not None:
        return _storage(call)
    if flags.page is not None:
        return _page(call)
    return _sources(call, sources)


def _sources(call: Call, sources: SourceRequest) -> int:
    if sources.is_empty:
        hint = "" if call.flags.kafka is None else " (--kafka needs --kafka-topic here)"
        raise UsageError(
            "doctor needs something to look at: --prometheus URL, --exporters FILE, "
            "--kafka HOST:PORT --kafka-topic TOPIC, a page, --recording FOLDER, or "
            f"--storage FOLDER{hint}"
        )
    from paramedic.api.wiring.doctor import look_at_sources

    around, flags = call.surroundings, call.flags
    return look_at_sources(
        sources,
        call.settings,
        flags.seconds,
        flags.format == "json",
        around.stdout,
        around.stderr,
        _registry(call),
    )


def _registry(call: Call) -> Path | None:
    """Where the models are; None where nothing can read them."""
    if not extras.is_installed("safetensors"):
        return None
    return call.surroundings.folder / call.settings.models.registry_folder


def _drift(call: Call) -> int:
    from paramedic.api.wiring.doctor_models import DriftRequest, look_at_drift

    flags, around = call.flags, call.surroundings
    request = DriftRequest(
        recordings=tuple(map(path, flags.recordings)),
        model=flags.model,
        folder=around.folder,
        registry=around.folder / call.settings.models.registry_folder,
    )
    return look_at_drift(request, flags.format == "json", around.stdout, around.stderr)


def _page(call: Call) -> int:
    import sys
    import time

    from paramedic.api.wiring.decode import DecodeRequest
    from paramedic.api.wiring.doctor import look_at_page

    flags, around = call.flags, call.surroundings
    request = DecodeRequest(
        source=flags.page,
        node=None,
        folder=around.folder,
        now_seconds=time.time(),
        standard_input=sys.stdin.buffer.read,
    )
    as_json = flags.format == "json"
    return look_at_page(
        request, call.settings, as_json, around.stdout, around.stderr, _registry(call)
    )


def _storage(call: Call) -> int:
    from paramedic.api.wiring.doctor import StorageRequest, look_at_storage
    from paramedic.ingest.doctor.storage.measuring import StorageLimits

    flags, around = call.flags, call.surroundings
    request = StorageRequest(
        place=around.folder / flags.storage,
        limits=StorageLimits(),
        states=flags.state_gigabytes,
        nodes=flags.nodes,
        failures=flags.failures,
    )
    return look_at_storage(request, flags.format == "json", around.stdout, around.stderr)


DOCTOR = Verb(
    name="doctor",
    summary="say what arrives from here, what detection would miss, and what to change",
    teaching=_TEACHING,
    setting_flags=SETTING_FLAGS,
    add_flags=_add_flags,
    packages=_packages,
    execute=_execute,
    extra="ingest",
)
