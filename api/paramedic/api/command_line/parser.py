"""The parser: one line for every mistake, and help that teaches."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn

from paramedic.api.command_line.bench_verb import BENCH
from paramedic.api.command_line.capture_verb import CAPTURE
from paramedic.api.command_line.collect_verb import COLLECT
from paramedic.api.command_line.decode_verb import DECODE
from paramedic.api.command_line.demo_verb import DEMO
from paramedic.api.command_line.doctor_verb import DOCTOR
from paramedic.api.command_line.errors import UsageError
from paramedic.api.command_line.explain_verb import EXPLAIN
from paramedic.api.command_line.flags import path
from paramedic.api.command_line.maintenance_verb import MAINTENANCE
from paramedic.api.command_line.models_verb import MODELS
from paramedic.api.command_line.replay_verb import REPLAY
from paramedic.api.command_line.run_verb import RUN
from paramedic.api.command_line.service_verbs import DIAGNOSE, REMEDIATE, SERVE
from paramedic.api.command_line.simulate_verb import SIMULATE
from paramedic.api.command_line.train_verb import TRAIN
from paramedic.api.command_line.up_verb import UP
from paramedic.api.command_line.verbs import Verb
from paramedic.api.settings.schema import SettingDescription, known_settings
from paramedic.api.wiring.telling import tell

VERBS: dict[str, Verb] = {
    verb.name: verb
    for verb in (
        RUN,
        DEMO,
        UP,
        COLLECT,
        DIAGNOSE,
        REMEDIATE,
        SERVE,
        DECODE,
        SIMULATE,
        CAPTURE,
        REPLAY,
        EXPLAIN,
        DOCTOR,
        BENCH,
        TRAIN,
        MODELS,
        MAINTENANCE,
    )
}

_COMMON_FLAGS = {"--debug": 0, "--set": 1, "--config": 1}
"""Flags of every verb, and how many values each has."""

_EPILOG = """\
first steps:
  paramedic demo                       see a rank die, be named and be replaced
  paramedic run -- python train.py     the same for a training of yours
  paramedic up --prometheus URL        watch the jobs of a cluster that runs already
  paramedic VERB --help                examples, defaults and exit codes

Settings come from paramedic.toml, then PARAMEDIC_… variables, then flags: docs/settings.md. Flags
that every verb has (--debug, --set, --config) may stand before the verb or behind it.
"""


class TeachingParser(argparse.ArgumentParser):
    """Raises UsageError with one line where argparse would print its usage and exit."""

    def error(self, message: str) -> NoReturn:
        """Refuse, and say where help is."""
        raise UsageError(f"{message} (see {self.prog} --help)")


class _ShowVersion(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_unused: object) -> NoReturn:
        """Print it and end."""
        from importlib.metadata import version

        tell(sys.stdout, f"paramedic {version('paramedic')}\n")
        parser.exit(0)


def verb_first(arguments: Sequence[str]) -> list[str]:
    """The same with the verb in front: flags that every verb has may stand before it.

    >>> verb_first(["--debug", "--set", "api.port=1", "run", "--bare"])
    ['run', '--debug', '--set', 'api.port=1', '--bare']
    """
    before, rest = list[str](), list(arguments)
    while rest and (flag := rest[0].partition("=")[0]) in _COMMON_FLAGS:
        words = 1 + (_COMMON_FLAGS[flag] and "=" not in rest[0])
        before += rest[:words]
        del rest[:words]
    return [*rest[:1], *before, *rest[1:]]


def verbs_asked_for(arguments: Sequence[str]) -> Iterable[Verb]:
    """The one that stands first; all where none does, for help and mistakes speak of all."""
    asked = VERBS.get(arguments[0]) if arguments else None
    return VERBS.values() if asked is None else (asked,)


def build_parser(known: Iterable[Verb] = VERBS.values()) -> TeachingParser:
    """The parser of these verbs; to describe all flags of all verbs takes its time."""
    parser = TeachingParser(
        prog="paramedic",
        description="Keeps distributed training alive: names the failing machine in seconds "
        "and brings the job back.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_ShowVersion, nargs=0, help="print the version and end")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for verb in known:
        _add_verb(verbs.add_parser, verb)
    return parser


def split_command(arguments: Sequence[str]) -> tuple[list[str], tuple[str, ...] | None]:
    """What stands before the first `--`, and what stands after it (None without one)."""
    if "--" not in arguments:
        return list(arguments), None
    at = list(arguments).index("--")
    return list(arguments[:at]), tuple(arguments[at + 1 :])


def flag_destination(flag: str) -> str:
    """Where the parsed value of a setting's flag lies: `--port` in `setting_port`."""
    return "setting_" + flag.removeprefix("--").replace("-", "_")


def _add_verb(add_parser: Callable[..., argparse.ArgumentParser], verb: Verb) -> None:
    usage_tail = " -- COMMAND ..." if verb.takes_command else ""
    parser = add_parser(
        verb.name,
        help=verb.summary,
        description=verb.summary[:1].upper() + verb.summary[1:] + ".",
        epilog=verb.teaching,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        usage=f"paramedic {verb.name} [flags]{usage_tail}",
    )
    verb.add_flags(parser)
    _add_setting_flags(parser, verb)
    parser.add_argument(
        "--debug", action="store_true", help="show the traceback of an unexpected error"
    )


def _add_setting_flags(parser: argparse.ArgumentParser, verb: Verb) -> None:
    known = known_settings()
    group = parser.add_argument_group("settings (more in docs/settings.md)")
    for flag, key in verb.setting_flags.items():
        group.add_argument(
            flag,
            dest=flag_destination(flag),
            metavar=known[key].name.upper(),
            default=None,
            help=_setting_help(known[key]),
        )
    group.add_argument(
        "--set",
        dest="assignments",
        metavar="SECTION.NAME=VALUE",
        action="append",
        default=[],
        help="any other setting; may be repeated",
    )
    group.add_argument(
        "--config", metavar="FILE", type=path, default=None, help="instead of ./paramedic.toml"
    )


def _setting_help(setting: SettingDescription) -> str:
    meaning = setting.limits.meaning.replace("%", "%%").replace("`", "").rstrip(".")
    return f"{meaning} (default: {setting.default})"
