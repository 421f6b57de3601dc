"""What `paramedic run` says when the job is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.api.wiring.run_folder import DATABASE_FILE
from paramedic.api.wiring.stored_job import stored_job
from paramedic.ingest.contract import JobState

if TYPE_CHECKING:
    from paramedic.api.wiring.request import Place
    from paramedic.remediation.launchers.local.local_job import JobResult


def last_words(result: JobResult, place: Place) -> list[str]:
    """One line for a job that ended well; for one that did not, where to look."""
    if place.listener is None:
        return _of_the_job(result, place.job, goodput=None)
    stored = stored_job(place.run_folder, place.job)
    lines = _of_the_job(result, place.job, None if stored is None else stored.goodput)
    is_complete = stored is not None and stored.state is JobState.FINISHED
    return lines if is_complete else [_what_is_missing(place), *lines]


def _of_the_job(result: JobResult, job: str, goodput: float | None) -> list[str]:
    from paramedic.remediation.launchers.local.commands import JobEnd

    if result.end is JobEnd.FINISHED:
        # A script that ended before it was known to train has no goodput.
        return [f"job {job} finished, goodput {goodput:.1%}" if goodput else f"job {job} finished"]
    if result.end is JobEnd.STOPPED:
        return [f"job {job} {result.reason}; every process has been ended"]
    return [f"job {job} failed: {result.reason}", *_where_to_look(result)]


def _what_is_missing(place: Place) -> str:
    return (
        f"remediation has not stored the end of the job: {place.run_folder / DATABASE_FILE} is not "
        f"complete ({place.logs / 'remediate.log'} may say why)"
    )


def _where_to_look(result: JobResult) -> list[str]:
    if result.log_path is None:
        return []
    said = "its log is empty" if result.last_line is None else f"last line: {result.last_line}"
    return [f"{said} ({result.log_path})"]
