"""What `paramedic run` says when the job is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.api.wiring.goodput import goodput_of

if TYPE_CHECKING:
    from paramedic.api.wiring.request import Place
    from paramedic.remediation.launchers.local.local_job import JobResult


def last_words(result: JobResult, place: Place) -> list[str]:
    """One line for a job that ended well; for one that did not, where to look."""
    from paramedic.remediation.launchers.local.commands import JobEnd

    goodput = None if place.listener is None else goodput_of(place.run_folder, place.job)
    # A script without the trainer library never says that it trains: nothing is known then.
    share = "" if not goodput else f", goodput {goodput:.1%}"
    if result.end is JobEnd.FINISHED:
        return [f"job {place.job} finished{share}"]
    if result.end is JobEnd.STOPPED:
        return [f"job {place.job} {result.reason}; every process has been ended"]
    return [f"job {place.job} failed: {result.reason}", *_where_to_look(result)]


def _where_to_look(result: JobResult) -> list[str]:
    if result.log_path is None:
        return []
    said = "its log is empty" if result.last_line is None else f"last line: {result.last_line}"
    return [f"{said} ({result.log_path})"]
