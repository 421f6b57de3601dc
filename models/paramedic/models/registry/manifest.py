"""What is known of a model beside its tensors: one JSON file, with a hash of itself.

The hashes tell damage and careless changes. They are no signature: whoever may write the folder can
write both, which is why a registry also keeps each version's hash on its own record.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from paramedic.models.registry.errors import ModelFileError, TamperedModelError
from paramedic.models.registry.stages import Stage, StageChange

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA = 1
_DIGEST = "manifest_sha256"
_SHAPES: Mapping[str, type | tuple[type, ...]] = {
    "schema": int, "name": str, "version": int, "created": str, "tensors_sha256": str,
    "settings": dict, "metrics": list, "fingerprint": dict, "scores": dict,
    "catalogue_version": str, "code_version": str, "trained_on": list, "stages": list,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TrainedOn:
    """A recording that the model has seen."""

    name: str
    first_second: int
    """Unix seconds, UTC."""
    seconds: int
    sha256: str
    """Of everything that was observed in it, in the order of the grid."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything about a model but its numbers."""

    name: str
    created: str
    """RFC 3339, UTC."""
    code_version: str
    catalogue_version: str
    """Beginning of the catalogue's hash: which metrics were known by which names."""
    version: int = 0
    """In its registry; 0 outside of one."""
    tensors_sha256: str = ""
    """Of the file with the tensors; filled in when it is written."""
    settings: Mapping[str, int | float | str] = field(default_factory=dict)
    metrics: tuple[str, ...] = ()
    fingerprint: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Quantiles of input and score in training, by metric."""
    scores: Mapping[str, float] = field(default_factory=dict)
    """What training measured of itself, and what was measured of the model since."""
    trained_on: tuple[TrainedOn, ...] = ()
    stages: tuple[StageChange, ...] = ()
    """Every stage that it came to, oldest first, as far as was known when this was written."""
    schema: int = SCHEMA

    @property
    def digest(self) -> str:
        """SHA-256 of all fields."""
        return sha256(_canonical(asdict(self))).hexdigest()

    def to_json(self) -> bytes:
        """The file's content, its own hash included; equal manifests give equal bytes."""
        content = {**asdict(self), _DIGEST: self.digest}
        text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
        # What is no UTF-8 in a recording's name becomes the escape that JSON has for it.
        return text.encode("utf-8", "backslashreplace") + b"\n"

    @classmethod
    def from_json(cls, content: bytes, where: str) -> Manifest:
        """Read a file's content; `where` is for messages.

        Raises ModelFileError for what is no manifest, TamperedModelError for a wrong hash.
        """
        told = _told(content, where)
        claimed = told.pop(_DIGEST, None)
        found = sha256(_canonical(told)).hexdigest()
        if claimed != found:
            raise TamperedModelError(
                f"{where}: its content has the SHA-256 {found}, and {_DIGEST} says {claimed}: "
                "it was changed or damaged; take the model from where it was trained"
            )
        return _manifest(told, where)


def _canonical(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def _told(content: bytes, where: str) -> dict[str, Any]:
    try:
        told = json.loads(content, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{where}: no JSON ({type(error).__name__}: {error})") from error
    if not isinstance(told, dict):
        raise ModelFileError(f"{where}: {type(told).__name__} where an object was expected")
    return told


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON")


def _manifest(told: dict[str, Any], where: str) -> Manifest:
    schema = told.get("schema")
    if schema != SCHEMA:
        raise ModelFileError(
            f"{where}: schema is {schema!r}, and this release reads {SCHEMA}: "
            "use the release that trained the model, or train it again"
        )
    for name, shape in _SHAPES.items():
        if not isinstance(told.get(name), shape):
            raise ModelFileError(f"{where}: {name} is {told.get(name)!r:.80}")
    try:
        known = {one.name: told[one.name] for one in fields(Manifest)}
        return Manifest(
            **{
                **known,
                "metrics": tuple(map(str, told["metrics"])),
                "trained_on": tuple(TrainedOn(**one) for one in told["trained_on"]),
                "stages": tuple(_change(one) for one in told["stages"]),
            }
        )
    except (TypeError, ValueError, KeyError) as error:
        raise ModelFileError(f"{where}: {error}") from error


def _change(told: Mapping[str, str]) -> StageChange:
    return StageChange(told["at"], Stage(told["stage"]), told.get("why", ""))
