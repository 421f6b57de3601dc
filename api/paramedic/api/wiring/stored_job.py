"""Reads what the database of a run says about its job."""

from __future__ import annotations

from pathlib import Path

from paramedic.api.wiring.run_folder import DATABASE_FILE, database_url
from paramedic.ingest.contract import JobName, JobState
from paramedic.remediation.contract import Job, StoreError

_BUSY_SECONDS = 0.2


def stored_job(run_folder: Path, job: str) -> Job | None:
    """The job as it is stored; None when it is not, or cannot be read now."""
    if not (run_folder / DATABASE_FILE).is_file():
        return None
    from paramedic.remediation.store.store import open_store

    try:
        store = open_store(database_url(run_folder), busy_timeout_seconds=_BUSY_SECONDS)
        try:
            with store.reading() as snapshot:
                return snapshot.jobs.get(JobName(job))
        finally:
            store.close()
    except StoreError:
        return None


def is_end_stored(run_folder: Path, job: str) -> bool:
    """Whether remediation has stored everything up to the job's end, which is published last."""
    found = stored_job(run_folder, job)
    return found is not None and found.state is JobState.FINISHED


def goodput_of(run_folder: Path, job: str) -> float | None:
    """The productive share of the job's wall time; None when nothing was booked."""
    found = stored_job(run_folder, job)
    return None if found is None else found.goodput
