"""`paramedic explain`: why a verdict was given, or why none was."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from paramedic.api.command_line import extras
from paramedic.api.command_line.errors import UsageError
from paramedic.api.command_line.flags import chosen, filled, moment, path, switch, valued
from paramedic.api.command_line.verbs import Call, Verb
from paramedic.api.settings.schema import Settings

_TEACHING = """\
Of a verdict it says what it found, where and since when, each line of evidence against the peers,
whom else it looked at and why those were not named, and what it recommends. The figure shows the
machine against the band of its peers, with the moments at which evidence began and was enough.

Of a node it says how far each kind of evidence is from a verdict, and what is missing: metrics,
peers, time to settle. --at is a moment of the recording (default: its end).

FOLDER is a recording, a ring of `paramedic capture --ring`, or the folder of a run, whose last
hours are in it. Verdicts come from a file that `paramedic replay` wrote (--verdicts), from the API
of a run (--url), or from a replay of the recording.

Of a folder with dumps of PyTorch's flight recorder, one a rank (rank07.json, nccl_trace_rank_7), it
says which ranks hold the others up, and in which collective.

examples:
  paramedic explain 7Q0JT2M9ZB4N6W8XKCVFR1DH3A --recording recordings/a --figure why.svg
  paramedic explain 7Q0JT2M9ZB4N6W8XKCVFR1DH3A --verdicts verdicts.jsonl
  paramedic explain 7Q0JT2M9ZB4N6W8XKCVFR1DH3A --url http://127.0.0.1:8370 --recording runs/a
  paramedic explain node-0007 --recording recordings/a --at 2026-01-01T00:11:00Z
  paramedic explain node-0007 --recording runs/a --format json
  paramedic explain --flight-recorder dumps/a

exit codes:
  0    it was explained
  2    there is no such verdict or node, or the recording cannot be used (one line says what)
"""
_ID = re.compile("[0-9A-HJKMNP-TV-Z]{26}")
_FIGURES = (".png", ".svg")


def _add_flags(parser: ArgumentParser) -> None:
    which = "the id of a verdict (26 characters), or a node"
    parser.add_argument("subject", metavar="VERDICT|NODE", nargs="?", help=which)
    folder = "a recording, a ring, or the folder of a run"
    valued(parser, "--recording", "FOLDER", folder, path)
    sources = parser.add_mutually_exclusive_group()
    valued(sources, "--verdicts", "FILE", "verdicts, one JSON object a line", path)
    valued(sources, "--url", "URL", "the API of a run, such as http://127.0.0.1:8370")
    at = "of a node: the moment that is asked about (default: the end of the recording)"
    valued(parser, "--at", "TIME", at, moment)
    valued(parser, "--figure", "FILE", "draw it: a .png or .svg", path)
    switch(parser, "--figure-only", "draw a verdict that was told; replay and say nothing")
    valued(parser, "--job", "NAME", "which job of a ring that holds several")
    dumps = "dumps of flight recorders: say which ranks hang; goes with no VERDICT and no NODE"
    valued(parser, "--flight-recorder", "DIR", dumps, path)
    form = "text on standard error, or one JSON object on standard output (default: text)"
    chosen(parser, "--format", ("text", "json"), form)


def _packages(flags: Namespace, _settings: Settings) -> Sequence[str]:
    if flags.flight_recorder is not None:
        return ()
    return (*extras.RECORDINGS, *(() if flags.figure is None else extras.FIGURES))


def _execute(call: Call) -> int:
    flags, around = call.flags, call.surroundings
    if flags.flight_recorder is not None:
        return _explain_dumps(call)
    if flags.subject is None:
        raise UsageError("explain needs VERDICT|NODE, or --flight-recorder DIR")
    is_verdict = _ID.fullmatch(flags.subject) is not None
    _check(flags, is_verdict=is_verdict)
    from paramedic.api.wiring.explain import (
        ExplainRequest,
        draw_verdict,
        explain_node,
        explain_verdict,
    )

    files = {
        name: None if given is None else around.folder / given
        for name in ("recording", "verdicts", "figure")
        for given in (getattr(flags, name),)
    }
    request = filled(ExplainRequest, flags, **files, as_json=flags.format == "json")
    if flags.figure_only:
        return draw_verdict(request, around.stderr)
    explain = explain_verdict if is_verdict else explain_node
    return explain(request, call.settings, around.stdout, around.stderr)


def _explain_dumps(call: Call) -> int:
    flags, around = call.flags, call.surroundings
    others = (flags.subject, flags.recording, flags.verdicts, flags.url, flags.at, flags.figure)
    if any(one is not None for one in others):
        raise UsageError("--flight-recorder DIR is explained by itself: leave the rest out")
    from paramedic.api.wiring.flight_recorder import explain_dumps

    folder, as_json = around.folder / flags.flight_recorder, flags.format == "json"
    return explain_dumps(folder, around.stdout, around.stderr, as_json=as_json)


def _check(flags: Namespace, *, is_verdict: bool) -> None:
    """Raises UsageError for flags that do not go together."""
    asked = (flags.verdicts, flags.url, flags.figure)
    if not is_verdict and any(one is not None for one in asked):
        raise UsageError(
            f"--verdicts, --url and --figure go with a verdict, and {flags.subject!r} is no"
            " verdict's id, which has 26 characters"
        )
    if is_verdict and flags.at is not None:
        raise UsageError("--at goes with a node: a verdict has its own time")
    if flags.recording is None and not (is_verdict and (flags.verdicts or flags.url)):
        ways = ", --verdicts FILE or --url URL" if is_verdict else ""
        raise UsageError(f"explain needs --recording FOLDER{ways}")
    if flags.figure is not None and flags.recording is None:
        raise UsageError("--figure is drawn from telemetry: name it with --recording FOLDER")
    if flags.figure_only and (flags.figure is None or not (flags.verdicts or flags.url)):
        raise UsageError("--figure-only needs --figure FILE, and --verdicts FILE or --url URL")
    if flags.figure is not None and flags.figure.suffix.lower() not in _FIGURES:
        raise UsageError(f"--figure {flags.figure}: its name must end in .png or .svg")


EXPLAIN = Verb(
    name="explain",
    summary="say why a verdict was given, or why nothing has fired",
    teaching=_TEACHING,
    add_flags=_add_flags,
    packages=_packages,
    execute=_execute,
)
