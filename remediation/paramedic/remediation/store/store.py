"""The store: transactions and snapshots in which every table has its own small door."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from paramedic.remediation.store.actions import Actions
from paramedic.remediation.store.counting import tally
from paramedic.remediation.store.database import open_database
from paramedic.remediation.store.events import Events
from paramedic.remediation.store.incidents import Incidents
from paramedic.remediation.store.jobs import Jobs
from paramedic.remediation.store.ledger import LedgerRows
from paramedic.remediation.store.maintenance import MaintenanceRows
from paramedic.remediation.store.verdicts import Verdicts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from sqlalchemy.engine import Connection

    from paramedic.remediation.contract import Maintenance, Tally
    from paramedic.remediation.store.database import Database


class Transaction:
    """All tables within one transaction or snapshot."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.actions = Actions(connection)
        self.events = Events(connection)
        self.incidents = Incidents(connection)
        self.jobs = Jobs(connection)
        self.ledger = LedgerRows(connection)
        self.maintenance = MaintenanceRows(connection)
        self.verdicts = Verdicts(connection)

    def tally(self) -> Tally:
        """Counts for the metrics page."""
        return tally(self._connection)


class Store:
    """Everything that remediation remembers. Safe to use from several threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """One transaction: all of the block is stored, or nothing of it.

        Raises StoreUnavailableError (try again) and StoreDataError (never again).
        """
        with self._database.writing() as connection:
            yield Transaction(connection)

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """A consistent view. Raises StoreUnavailableError."""
        with self._database.reading() as connection:
            yield Transaction(connection)

    def declare(self, maintenance: Maintenance) -> None:
        """Keep declared maintenance. Raises StoreUnavailableError."""
        with self.writing() as tx:
            tx.maintenance.add(maintenance)

    def end(self, maintenance_id: str, at: datetime) -> Maintenance | None:
        """End maintenance by hand, unless it is over. Raises StoreUnavailableError."""
        with self.writing() as tx:
            tx.maintenance.end(maintenance_id, at)
            return tx.maintenance.get(maintenance_id)

    def close(self) -> None:
        """Let go of the database. Closing twice is harmless."""
        self._database.close()


def open_store(url: str, *, busy_timeout_seconds: float = 5.0) -> Store:
    """Open the store at a SQLAlchemy URL such as `sqlite:////runs/demo/paramedic.sqlite`.

    Raises StoreAddressError when it can never work, StoreUnavailableError when it may later.
    """
    return Store(open_database(url, busy_timeout_seconds=busy_timeout_seconds))
