"""From arguments to a verb's exit code; every foreseen error becomes one line."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from paramedic.api.command_line import extras
from paramedic.api.command_line.errors import CommandLineError, UsageError
from paramedic.api.command_line.parser import (
    VERBS,
    build_parser,
    flag_destination,
    split_command,
    verb_first,
    verbs_asked_for,
)
from paramedic.api.command_line.surroundings import Surroundings
from paramedic.api.command_line.verbs import Call, Verb
from paramedic.api.demo.errors import DemoError
from paramedic.api.rest.errors import ApiError
from paramedic.api.settings.errors import SettingsError
from paramedic.api.settings.reading import parse_assignment, read_settings
from paramedic.api.settings.schema import Settings, known_settings
from paramedic.api.settings.values import Given, parse_text
from paramedic.api.wiring.errors import WiringError
from paramedic.api.wiring.telling import say, tell
from paramedic.ingest.contract import IngestError
from paramedic.models.contract import ModelError
from paramedic.remediation.contract import StoreError
from paramedic.remediation.launchers.port import LauncherError

UNUSABLE = 2
FORESEEN = (
    ApiError,
    CommandLineError,
    DemoError,
    IngestError,
    LauncherError,
    ModelError,
    SettingsError,
    StoreError,
    WiringError,
)


def dispatch(arguments: Sequence[str], surroundings: Surroundings | None = None) -> int:
    """Run the verb that the arguments name; 2 for anything that cannot be used."""
    stderr = sys.stderr if surroundings is None else surroundings.stderr
    try:
        verb, call = _read_call(arguments, surroundings or _process_surroundings())
        return verb.execute(call)
    except FORESEEN as error:
        say(stderr, _one_line(error))
        return UNUSABLE


def _read_call(arguments: Sequence[str], surroundings: Surroundings) -> tuple[Verb, Call]:
    """The same, and help is out before the process ends. Raises OutputError too."""
    try:
        return read_call(arguments, surroundings)
    except SystemExit:
        tell(sys.stdout, "")
        raise


def read_call(arguments: Sequence[str], surroundings: Surroundings) -> tuple[Verb, Call]:
    """The verb and everything it needs, read and checked.

    Raises CommandLineError or SettingsError.
    """
    told, command = split_command(arguments)
    before = verb_first(told)
    flags, unknown = build_parser(verbs_asked_for(before)).parse_known_args(before)
    if unknown:
        # argparse would point to the help of all verbs, which says nothing about this one's flags.
        raise UsageError(
            f"unrecognized arguments: {' '.join(unknown)} (see paramedic {flags.verb} --help)"
        )
    if not flags.debug:
        sys.excepthook = _one_line_hook
    verb = VERBS[flags.verb]
    if command is not None and not verb.takes_command:
        raise UsageError(f"{verb.name} takes no command after --")
    settings = _settings(verb, flags, surroundings)
    extras.require(verb.name, verb.packages(flags, settings), verb.extra)
    return verb, Call(flags, command, settings, surroundings)


def _settings(verb: Verb, flags: Namespace, surroundings: Surroundings) -> Settings:
    return read_settings(
        surroundings.folder, surroundings.environment, _setting_flags(verb, flags), flags.config
    )


def _setting_flags(verb: Verb, flags: Namespace) -> dict[str, Given]:
    known = known_settings()
    given = dict(parse_assignment(text) for text in flags.assignments)
    for flag, key in verb.setting_flags.items():
        text = getattr(flags, flag_destination(flag))
        if text is not None:
            given[key] = parse_text(known[key], text, flag)
    return given


def _process_surroundings() -> Surroundings:
    try:
        folder = Path.cwd()
    except FileNotFoundError as error:
        raise UsageError("the current folder has been removed: cd to one that exists") from error
    return Surroundings(folder, dict(os.environ), sys.stdout, sys.stderr)


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _one_line_hook(
    kind: type[BaseException], error: BaseException, _trace: TracebackType | None
) -> None:
    """Unforeseen errors end the process as Python does (exit 1), but in one line."""
    say(
        sys.stderr,
        f"unexpected {kind.__name__}: {_one_line(error)} (--debug shows where; please report it)",
    )
