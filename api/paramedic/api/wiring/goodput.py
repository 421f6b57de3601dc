"""Reads a job's goodput from the ledger that its run left behind."""

from __future__ import annotations

from pathlib import Path

from paramedic.api.wiring.run_folder import DATABASE_FILE, database_url
from paramedic.ingest.contract import JobName
from paramedic.remediation.contract import StoreError


def goodput_of(run_folder: Path, job: str) -> float | None:
    """The productive share of the job's wall time; None when nothing was booked."""
    if not (run_folder / DATABASE_FILE).is_file():
        return None
    from paramedic.remediation.store.store import open_store

    try:
        store = open_store(database_url(run_folder))
        try:
            with store.reading() as snapshot:
                found = snapshot.jobs.get(JobName(job))
        finally:
            store.close()
    except StoreError:
        return None
    return None if found is None else found.goodput
