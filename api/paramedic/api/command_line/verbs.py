"""A verb of the command line: what it teaches, what it takes and what it does."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from paramedic.api.command_line.surroundings import Surroundings
from paramedic.api.settings.schema import Settings


@dataclass(frozen=True, slots=True)
class Call:
    """One use of a verb, with everything read and checked."""

    flags: Namespace
    command: tuple[str, ...] | None
    """What stood after `--`; None when there was no `--`."""
    settings: Settings
    surroundings: Surroundings


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb; nothing heavy is imported before `execute` is called."""

    name: str
    summary: str
    """One line for `paramedic --help`."""
    teaching: str
    """Examples and exit codes, shown below the flags."""
    add_flags: Callable[[ArgumentParser], None]
    packages: Callable[[Namespace, Settings], Sequence[str]]
    """The packages that this call needs."""
    execute: Callable[[Call], int]
    setting_flags: Mapping[str, str] = field(default_factory=dict)
    """Flags that are settings: `--port` to `api.port`."""
    extra: str = "platform"
    takes_command: bool = False
