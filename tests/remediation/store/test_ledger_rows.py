"""The ledger's table is what it was last told, and only what changed is written again."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from paramedic.ingest.contract import JobName
from paramedic.remediation.contract import LedgerClass, LedgerRow
from paramedic.remediation.store.store import Store, open_store

LLAMA, OTHER = JobName("llama"), JobName("other")
START = datetime(2026, 1, 1, tzinfo=UTC)


def row(begin: int, end: int, spent_on: LedgerClass = LedgerClass.PRODUCTIVE) -> LedgerRow:
    return LedgerRow(
        LLAMA, spent_on, START + timedelta(seconds=begin), START + timedelta(seconds=end)
    )


@st.composite
def ledgers(draw: st.DrawFn) -> list[LedgerRow]:
    """Rows that follow each other without a hole."""
    seconds = sorted(draw(st.sets(st.integers(0, 20), min_size=2, max_size=6)))
    classes = st.sampled_from(list(LedgerClass))
    return [row(begin, end, draw(classes)) for begin, end in pairwise(seconds)]


def replaced(store: Store, rows: Sequence[LedgerRow], job: JobName = LLAMA) -> None:
    with store.writing() as tx:
        tx.ledger.replace(job, rows)


def stored(store: Store, job: JobName = LLAMA) -> list[LedgerRow]:
    with store.reading() as view:
        return list(view.ledger.of_job(job))


@settings(max_examples=10)
@given(st.lists(ledgers(), min_size=1, max_size=4))
def test_whatever_was_there_before_the_last_ledger_holds(
    database_in: Callable[[Path], str], told: list[list[LedgerRow]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(database_in(Path(folder)))
        for rows in told:
            replaced(store, list(reversed(rows)))
            assert stored(store) == rows
        store.close()


def test_rows_that_stay_are_not_written_again(store: Store) -> None:
    replaced(store, [row(0, 10), row(10, 20, LedgerClass.RECOVERY)])
    with store.writing() as tx:
        changes = _total_changes(tx)
        tx.ledger.replace(LLAMA, [row(0, 10), row(10, 30, LedgerClass.RECOVERY)])
        assert _total_changes(tx) - changes == 2  # one row went, one came
        tx.ledger.replace(LLAMA, [row(0, 10), row(10, 30, LedgerClass.RECOVERY)])
        assert _total_changes(tx) - changes == 2


def _total_changes(tx: object) -> int:
    cursor = tx._connection.exec_driver_sql("SELECT total_changes()")  # type: ignore[attr-defined]
    return int(cursor.scalar())


def test_an_empty_ledger_takes_everything_away_and_only_of_its_job(store: Store) -> None:
    replaced(store, [row(0, 10)])
    of_other = LedgerRow(OTHER, LedgerClass.CHECKPOINT, START, START, incident="inc-V1")
    replaced(store, [of_other], OTHER)
    replaced(store, [])
    assert stored(store) == []
    assert stored(store, OTHER) == [of_other]


def test_a_row_that_names_its_incident_is_another_than_one_that_does_not(store: Store) -> None:
    replaced(store, [row(0, 10)])
    named = LedgerRow(LLAMA, LedgerClass.PRODUCTIVE, START, row(0, 10).ended_at, incident="inc-V1")
    replaced(store, [named])
    assert stored(store) == [named]
