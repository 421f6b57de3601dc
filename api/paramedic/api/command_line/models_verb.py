"""`paramedic models`: which models there are, and which one is in production."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from paramedic.api.command_line import extras
from paramedic.api.command_line.errors import UsageError
from paramedic.api.command_line.flags import chosen, switch, valued
from paramedic.api.command_line.verbs import Call, Verb
from paramedic.api.settings.schema import Settings

_TEACHING = """\
list              every version with its stage: candidate, production, retired
show [MODEL]      all that is known of one (without a name: of the one in use)
add MODEL         keep a model folder as a candidate
promote MODEL     put it in production (a folder is added first); a diagnose that runs picks it up
rollback          put in production what was there before; at last the model that ships
verify [MODEL]    check the hashes of one, or of all

MODEL is a version of the registry, the folder of a model, or `shipped`. A model is checked before
it is promoted; tensors or manifests that were changed are refused, and pickles are never loaded.

examples:
  paramedic models list
  paramedic models promote models/ours --why "two more weeks of telemetry"
  paramedic models show 3 --all
  paramedic models rollback
  paramedic models verify models/ours

exit codes:
  0    done
  2    there is no such model, or it is damaged (one line says which file and which hash)
"""
_ACTIONS = ("list", "show", "add", "promote", "rollback", "verify")
_NAMED = ("add", "promote")
_UNNAMED = ("list", "rollback")


def _add_flags(parser: ArgumentParser) -> None:
    parser.add_argument("action", choices=_ACTIONS, help="what is to be done")
    which = "a version, a model folder, or `shipped`"
    parser.add_argument("model", metavar="MODEL", nargs="?", default=None, help=which)
    switch(parser, "--all", "with show: every recording, metric and setting, however many")
    valued(parser, "--why", "TEXT", "kept with a promotion or a roll back", default="")
    form = "a table on standard error, or one JSON object on standard output"
    chosen(parser, "--format", ("table", "json"), f"{form} (default: table)")


def _packages(_flags: Namespace, _settings: Settings) -> Sequence[str]:
    return extras.MODELS


def _execute(call: Call) -> int:
    from datetime import UTC, datetime

    flags, around = call.flags, call.surroundings
    _check(flags)
    from paramedic.api.wiring.models import ModelsRequest, models

    request = ModelsRequest(
        action=flags.action,
        model=flags.model,
        why=flags.why,
        folder=around.folder,
        registry=around.folder / call.settings.models.registry_folder,
        now=datetime.now(UTC),
        is_registry_named=flags.setting_registry is not None,
        is_whole=flags.all,
    )
    return models(request, flags.format == "json", around.stdout, around.stderr)


def _check(flags: Namespace) -> None:
    """Raises UsageError for a name too many or too few."""
    if flags.action in _NAMED and not flags.model:
        raise UsageError(f"models {flags.action} needs a MODEL: a version or a model folder")
    if flags.action in _UNNAMED and flags.model:
        raise UsageError(f"models {flags.action} takes no MODEL: leave {flags.model!r} out")
    if flags.all and flags.action != "show":
        raise UsageError("--all goes with show")
    if flags.why and flags.action not in ("promote", "rollback"):
        raise UsageError("--why goes with promote and rollback")


MODELS = Verb(
    name="models",
    summary="list, check, promote and roll back trained models",
    teaching=_TEACHING,
    setting_flags={"--registry": "models.registry_folder"},
    add_flags=_add_flags,
    packages=_packages,
    execute=_execute,
    extra="models",
)
