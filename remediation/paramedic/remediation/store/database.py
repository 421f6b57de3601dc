"""Opens the database and runs transactions on it; translates its failures into StoreError."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import create_engine, event, insert, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import (
    ArgumentError,
    DatabaseError,
    DataError,
    IntegrityError,
    InterfaceError,
    NoSuchModuleError,
    OperationalError,
    SQLAlchemyError,
    StatementError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from paramedic.remediation.contract import (
    StoreAddressError,
    StoreDataError,
    StoreError,
    StoreUnavailableError,
)
from paramedic.remediation.store.tables import SCHEMA_VERSION, metadata, schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy.engine import URL, Connection, Engine
    from sqlalchemy.engine.interfaces import DBAPIConnection
    from sqlalchemy.pool import ConnectionPoolEntry

_BUSY_TIMEOUT_SECONDS = 5.0
_WRITES = "paramedic_writes"


class Database:
    """One database, its tables made. Safe to use from several threads."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction that may write: all of the block happens, or nothing.

        Raises StoreUnavailableError (try again) and StoreDataError (never again).
        """
        with _translated(self._engine.url), self._engine.connect() as connection:
            marked = connection.execution_options(**{_WRITES: True})
            with marked.begin():
                yield marked

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One consistent view. Raises StoreUnavailableError."""
        with (
            _translated(self._engine.url),
            self._engine.connect() as connection,
            connection.begin(),
        ):
            yield connection

    def close(self) -> None:
        """Let go of all connections. Closing twice is harmless."""
        self._engine.dispose()


def open_database(url: str, *, busy_timeout_seconds: float = _BUSY_TIMEOUT_SECONDS) -> Database:
    """Open the database at a SQLAlchemy URL and make its tables where they are missing.

    Raises StoreAddressError when it can never work, StoreUnavailableError when it may later.
    """
    engine = _engine(_parsed(url), busy_timeout_seconds)
    database = Database(engine)
    try:
        _prepare(database, _shown(engine.url))
    except StoreError:
        database.close()
        raise
    return database


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise StoreAddressError(
            f"database {url!r} is not a URL: use one such as sqlite:///paramedic.sqlite"
        ) from error
    if parsed.get_backend_name() == "sqlite" and parsed.database:
        _require_folder(Path(parsed.database))
    return parsed


def _require_folder(file: Path) -> None:
    if not file.parent.is_dir():
        raise StoreAddressError(
            f"database {file}: the folder {file.parent} does not exist; create it, or name another"
        )


def _engine(url: URL, busy_timeout_seconds: float) -> Engine:
    is_sqlite = url.get_backend_name() == "sqlite"
    arguments: dict[str, Any] = {"timeout": busy_timeout_seconds} if is_sqlite else {}
    try:
        engine = create_engine(url, connect_args=arguments)
    except (NoSuchModuleError, ImportError) as error:
        raise StoreAddressError(
            f"database {_shown(url)}: no driver for {url.drivername!r} is installed; "
            "install it, or use sqlite:///FILE"
        ) from error
    if is_sqlite:
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    return engine


def _set_up_sqlite(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
    # The driver must not open transactions by itself: _begin_sqlite chooses their kind.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    # A writer takes the lock at once: a read that turns into a write could not wait for it.
    writes = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _prepare(database: Database, shown: str) -> None:
    try:
        with database.writing() as connection:
            metadata.create_all(connection)
            version = connection.scalar(select(schema.c.version))
            if version is None:
                connection.execute(insert(schema).values(version=SCHEMA_VERSION))
    except StoreDataError as error:
        raise StoreAddressError(
            f"database {shown} is not one of ours: {error}; name another"
        ) from error
    if version is not None and version != SCHEMA_VERSION:
        raise StoreAddressError(
            f"database {shown} has the layout {version}, this Paramedic knows {SCHEMA_VERSION}: "
            "use the Paramedic that made it, or name another database"
        )


@contextmanager
def _translated(url: URL) -> Iterator[None]:
    try:
        yield
    except (OperationalError, PoolTimeoutError) as error:
        raise StoreUnavailableError(
            f"database {_shown(url)} does not answer: {_cause(error)}; "
            "it is tried again, free disk space or end what locks it"
        ) from error
    except (IntegrityError, DataError, InterfaceError) as error:
        raise StoreDataError(f"database {_shown(url)} refuses: {_cause(error)}") from error
    except DatabaseError as error:
        raise StoreDataError(f"database {_shown(url)} is damaged: {_cause(error)}") from error
    except (StatementError, SQLAlchemyError, OverflowError) as error:
        raise StoreDataError(f"database {_shown(url)} cannot take this: {error}") from error


def _cause(error: SQLAlchemyError) -> str:
    return str(getattr(error, "orig", None) or error)


def _shown(url: URL) -> str:
    return url.render_as_string(hide_password=True)
