"""The known errors of the settings: what ships, and a file of the user's laid over it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from paramedic.api.wiring.errors import PreflightError

if TYPE_CHECKING:
    from paramedic.api.settings.schema import Settings
    from paramedic.diagnosis.known_errors.entry import KnownErrors

_NO_FILE = "none"


def known_errors_in(settings: Settings) -> KnownErrors:
    """What drivers' codes mean. Raises PreflightError for a file that cannot be used."""
    from paramedic.diagnosis.known_errors.errors import KnownErrorsError
    from paramedic.diagnosis.known_errors.reading import known_errors_with

    named = settings.detection.known_errors_file
    try:
        return known_errors_with(None if named == _NO_FILE else Path(named))
    except KnownErrorsError as error:
        raise PreflightError(f"detection.known_errors_file: {error}") from error
