"""What is done with trained models from the command line."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from paramedic.api.wiring.errors import InputError
from paramedic.api.wiring.models_table import lines_of_list, lines_of_model
from paramedic.api.wiring.telling import say, tell, tell_lines
from paramedic.api.wiring.wording import counted
from paramedic.ingest.contract import format_time
from paramedic.models.contract import ModelError
from paramedic.models.default.shipped import shipped_model
from paramedic.models.registry.model_folder import load
from paramedic.models.registry.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paramedic.models.pattern.artifact import PatternArtifact
    from paramedic.models.registry.manifest import Manifest

SHIPPED = "shipped"
_UNUSABLE = 2


@dataclass(frozen=True, slots=True)
class ModelsRequest:
    """What is to be done, with which model."""

    action: str
    model: str | None
    """A version, a folder, or `shipped`."""
    why: str
    folder: Path
    """The current folder; relative paths start there."""
    registry: Path
    now: datetime
    is_registry_named: bool = False
    """Whether the flag named it: then it has to be there."""
    is_whole: bool = False
    """Whether everything is shown of a model, to people too."""

    @property
    def at(self) -> str:
        """The time as records keep it."""
        return format_time(self.now.replace(microsecond=0))


def models(request: ModelsRequest, as_json: bool, stdout: TextIO, stderr: TextIO) -> int:
    """Do it, and say what is so now. Raises ModelError or InputError."""
    registry = Registry(request.registry)
    _require_registry(request)
    match request.action:
        case "list":
            return _list(registry, as_json, stdout, stderr)
        case "show":
            return _show(registry, request, as_json, stdout, stderr)
        case "verify":
            return _verify(registry, request, as_json, stdout, stderr)
    done = _changed(registry, request)
    if as_json:
        tell(stdout, json.dumps(done) + "\n")
    else:
        say(stderr, _said(request, done))
    return 0


def _require_registry(request: ModelsRequest) -> None:
    """Raises InputError for a registry that was named and is not there; an `add` makes it."""
    makes_it = request.action in ("add", "promote") and _version_of(request.model) is None
    is_there = Registry(request.registry).record_file.exists()
    if request.is_registry_named and not makes_it and not is_there:
        why = "it holds no record.json" if request.registry.is_dir() else "no such folder"
        raise InputError(
            f"--registry {request.registry} is no registry: {why}; name one that is there"
            " (`paramedic models add` makes a new one)"
        )


def _changed(registry: Registry, request: ModelsRequest) -> Mapping[str, int | None]:
    """What was done to which version, and what is in production now."""
    before = registry.production()
    version: int | None
    match request.action:
        case "add":
            version = _added(registry, request)
        case "promote":
            known = _version_of(request.model)
            version = _added(registry, request) if known is None else known
            registry.promote(version, request.at, request.why)
        case _:
            version = registry.roll_back(request.at, request.why)
    return {"version": version, "before": before, "production": registry.production()}


def _said(request: ModelsRequest, done: Mapping[str, int | None]) -> str:
    before, now = _title(done["before"]), _title(done["production"])
    match request.action:
        case "add":
            return f"version {done['version']} is a candidate; in production is {now}"
        case "promote":
            return f"{now} is in production; before it was {before} (paramedic models rollback)"
    return f"{now} is in production again; {before} is retired"


def _title(version: int | None) -> str:
    return "the model that ships" if version is None else f"version {version}"


def _added(registry: Registry, request: ModelsRequest) -> int:
    artifact, manifest = found_model(registry, request.model, request.folder)
    return registry.add(artifact, manifest, request.at)


def _list(registry: Registry, as_json: bool, stdout: TextIO, stderr: TextIO) -> int:
    """A version that is damaged is listed too: the others are still of use."""
    record = registry.record()
    rows = [_row(registry, number) for number in record.versions]
    if as_json:
        tell(stdout, json.dumps({"production": record.production, "models": rows}) + "\n")
    else:
        tell_lines(stderr, lines_of_list(rows, registry.root))
    return 0


def _row(registry: Registry, number: int) -> dict[str, object]:
    stage = registry.record().stage_of(number)
    try:
        _artifact, manifest = registry.load(number)
    except ModelError as error:
        return {"version": number, "stage": stage.value, "damaged": str(error)}
    return {
        "version": number,
        "stage": stage.value,
        "name": manifest.name,
        "created": manifest.created,
        "metrics": len(manifest.metrics),
        "recordings": len(manifest.trained_on),
        "scores": dict(manifest.scores),
        "tensors_sha256": manifest.tensors_sha256,
    }


def _show(
    registry: Registry, request: ModelsRequest, as_json: bool, stdout: TextIO, stderr: TextIO
) -> int:
    _artifact, manifest = found_model(registry, request.model, request.folder)
    if as_json:
        tell(stdout, json.dumps(asdict(manifest)) + "\n")
    else:
        tell_lines(stderr, lines_of_model(manifest, is_whole=request.is_whole))
    return 0


def found_model(
    registry: Registry, named: str | None, folder: Path
) -> tuple[PatternArtifact, Manifest]:
    """The model that was named, or the one in use; paths start at the folder.

    Raises ModelError or InputError.
    """
    version = registry.production() if named is None else _version_of(named)
    if version is not None:
        return registry.load(version)
    if named in (None, SHIPPED):
        return shipped_model()
    place = folder / str(named)
    if not place.is_dir():
        raise InputError(f"{named}: no such folder: name a version, a model folder or `{SHIPPED}`")
    return load(place)


def _version_of(named: str | None) -> int | None:
    """The version that was typed; None for a folder, which a `./` before digits makes one."""
    return int(named) if named and named.isascii() and named.isdecimal() else None


def _verify(
    registry: Registry, request: ModelsRequest, as_json: bool, stdout: TextIO, stderr: TextIO
) -> int:
    """All that are named; the damaged ones make it 2."""
    named = request.model
    names = [str(one) for one in registry.record().versions] if named is None else [named]
    found = {name: _trouble(registry, request, name) for name in names}
    bad = {name: trouble for name, trouble in found.items() if trouble is not None}
    if as_json:
        told = [{"model": name, "damaged": trouble} for name, trouble in found.items()]
        tell(stdout, json.dumps({"verified": told}) + "\n")
    say(stderr, *bad.values(), f"{len(found) - len(bad)} of {counted(len(found), 'model')} whole")
    return _UNUSABLE if bad else 0


def _trouble(registry: Registry, request: ModelsRequest, name: str) -> str | None:
    try:
        found_model(registry, name, request.folder)
    except ModelError as error:
        return str(error)
    return None
