"""The database: opened, refused, locked, full, damaged."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from paramedic.diagnosis.contract import Verdict
from paramedic.remediation.contract import (
    StoreAddressError,
    StoreDataError,
    StoreUnavailableError,
    VerdictFilter,
)
from paramedic.remediation.store.store import Store, open_store

Build = Callable[..., Verdict]


@contextmanager
def locked(file: Path) -> Iterator[None]:
    holder = sqlite3.connect(file, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        holder.close()


def file_of(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))


def test_sqlite_keeps_a_write_ahead_log_and_checks_foreign_keys(store_url: str) -> None:
    open_store(store_url).close()
    connection = sqlite3.connect(file_of(store_url))
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_what_was_stored_is_there_after_opening_again(store_url: str, verdict_of: Build) -> None:
    verdict = verdict_of()
    first = open_store(store_url)
    with first.writing() as tx:
        tx.verdicts.put(verdict, verdict.to_json())
    first.close()
    second = open_store(store_url)
    with second.reading() as view:
        assert view.verdicts.get(verdict.id) == verdict
    second.close()


def test_a_block_that_fails_stores_nothing(store: Store, verdict_of: Build) -> None:
    verdict = verdict_of()

    def store_and_fail() -> None:
        with store.writing() as tx:
            tx.verdicts.put(verdict, verdict.to_json())
            raise KeyError("something of our own")

    with pytest.raises(KeyError):
        store_and_fail()
    with store.reading() as view:
        assert view.verdicts.documents(VerdictFilter()) == ()


def test_a_locked_database_is_unavailable_and_works_again_afterwards(
    store_url: str, verdict_of: Build
) -> None:
    verdict = verdict_of()
    store = open_store(store_url, busy_timeout_seconds=0.01)
    with (
        locked(file_of(store_url)),
        pytest.raises(StoreUnavailableError, match="locked"),
        store.writing(),
    ):
        pass
    with store.writing() as tx:
        tx.verdicts.put(verdict, verdict.to_json())
    store.close()


def test_readers_are_not_held_up_by_a_writer(store_url: str) -> None:
    store = open_store(store_url, busy_timeout_seconds=0.01)
    with locked(file_of(store_url)), store.reading() as view:
        assert view.jobs.all() == ()
    store.close()


def test_a_full_disk_is_unavailable_and_loses_nothing_that_was_stored(
    store: Store, verdict_of: Build
) -> None:
    first = verdict_of("FIRST")
    with store.writing() as tx:
        tx.verdicts.put(first, first.to_json())
    large = verdict_of("LARGE", summary="x" * 10_000_000)

    def store_too_much() -> None:
        with store.writing() as tx:
            # SQLite answers exactly as on a full disk when a database may not grow any more.
            tx._connection.exec_driver_sql("PRAGMA max_page_count = 1")
            tx.verdicts.put(large, large.to_json())

    with pytest.raises(StoreUnavailableError, match="full"):
        store_too_much()
    with store.reading() as view:
        assert view.verdicts.get("FIRST") == first
        assert view.verdicts.get("LARGE") is None


def test_a_value_that_the_database_cannot_take_is_not_tried_again(
    store: Store, verdict_of: Build
) -> None:
    verdict = verdict_of(identity={"not": "a text"})
    with pytest.raises(StoreDataError), store.writing() as tx:
        tx.verdicts.put(verdict, b"{}")


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("nonsense", "not a URL"),
        ("oracle+nodriver://x/y", "driver"),
        ("sqlite:////nowhere/at/all/p.sqlite", "does not exist"),
    ],
)
def test_an_address_that_can_never_work_is_refused(url: str, says: str) -> None:
    with pytest.raises(StoreAddressError, match=says):
        open_store(url)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("this is no database, " * 100)
    with pytest.raises(StoreAddressError, match="not one of ours"):
        open_store(f"sqlite:///{tmp_path / 'notes.txt'}")


def test_a_database_of_another_layout_is_refused(store_url: str) -> None:
    open_store(store_url).close()
    connection = sqlite3.connect(file_of(store_url))
    connection.execute("UPDATE schema SET version = 99")
    connection.commit()
    connection.close()
    with pytest.raises(StoreAddressError, match="layout 99"):
        open_store(store_url)


def test_many_threads_may_write_at_once(store: Store, verdict_of: Build) -> None:
    def put(number: int) -> None:
        verdict = verdict_of(f"V{number}")
        with store.writing() as tx:
            tx.verdicts.put(verdict, verdict.to_json())

    threads = [threading.Thread(target=put, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with store.reading() as view:
        assert len(view.verdicts.documents(VerdictFilter())) == 16


def test_a_view_does_not_change_while_it_is_looked_at(store: Store, verdict_of: Build) -> None:
    first, second = verdict_of("V1"), verdict_of("V2")
    with store.writing() as tx:
        tx.verdicts.put(first, first.to_json())
    with store.reading() as view:
        assert view.verdicts.get("V1") == first
        with store.writing() as tx:
            tx.verdicts.put(second, second.to_json())
        assert view.verdicts.get("V2") is None
    with store.reading() as view:
        assert view.verdicts.get("V2") == second


def test_a_writer_has_the_database_from_its_first_moment(store_url: str) -> None:
    first, second = (open_store(store_url, busy_timeout_seconds=0.01) for _ in range(2))
    refused = pytest.raises(StoreUnavailableError, match="locked")
    with first.writing(), refused, second.writing():
        pytest.fail("two write at once")
    with second.writing():
        pass
    first.close()
    second.close()


def test_a_database_whose_pages_are_damaged_is_refused(store_url: str) -> None:
    file = file_of(store_url)
    content = file.read_bytes()
    file.write_bytes(content[:100] + b"\xff" * (len(content) - 100))
    with pytest.raises(StoreAddressError, match=r"is not one of ours.*damaged"):
        open_store(store_url)


def test_closing_twice_is_harmless_and_it_opens_by_itself_again(store: Store) -> None:
    store.close()
    store.close()
    with store.reading() as view:
        assert view.jobs.all() == ()


def test_a_password_in_the_address_is_shown_nowhere() -> None:
    with pytest.raises(StoreAddressError) as refused:
        open_store("oracle+nodriver://me:s3cret@db/x")
    assert "s3cret" not in str(refused.value)
    assert "me:***@db" in str(refused.value)


def test_a_folder_that_cannot_hold_the_log_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "p.sqlite").mkdir()
    with pytest.raises(StoreUnavailableError, match=r"does not answer.*free disk space"):
        open_store(f"sqlite:///{tmp_path}/p.sqlite")


def test_opening_a_second_time_changes_nothing(store_url: str) -> None:
    open_store(store_url).close()
    connection = sqlite3.connect(file_of(store_url))
    assert connection.execute("SELECT version FROM schema").fetchall() == [(1,)]
    connection.close()
