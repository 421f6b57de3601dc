"""Finds the training script of the demo, in a clone or in an installed wheel."""

from __future__ import annotations

from pathlib import Path

from paramedic.api.demo.errors import DemoRequestError

_EXAMPLE = Path("examples") / "train.py"


def candidates(module_file: Path, prefix: Path) -> tuple[Path, ...]:
    """Where the example may lie: beside the source tree, then in the installation."""
    clone = module_file.resolve().parents[4]
    return (clone / _EXAMPLE, prefix / "share" / "paramedic" / _EXAMPLE)


def find_script(asked_for: Path | None, module_file: Path, prefix: Path) -> Path:
    """The training script, absolute. Raises DemoRequestError when there is none."""
    places = (asked_for,) if asked_for is not None else candidates(module_file, prefix)
    for place in places:
        if place.is_file():
            return place.resolve()
    looked = " nor ".join(str(place) for place in places)
    raise DemoRequestError(f"no training script at {looked}; name one with --script")
