"""Every table of Paramedic's database. Times are whole microseconds since 1970, UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
)
from sqlalchemy.types import TypeDecorator

if TYPE_CHECKING:
    from sqlalchemy.engine import Dialect

SCHEMA_VERSION = 1

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class UtcTime(TypeDecorator[datetime]):
    """An aware datetime, kept as microseconds since 1970: exact, and sorts as it should."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:  # noqa: ARG002
        """To the database."""
        return None if value is None else (value - _EPOCH) // _MICROSECOND

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """From the database."""
        return None if value is None else _EPOCH + value * _MICROSECOND


metadata = MetaData()

schema = Table("schema", metadata, Column("version", Integer, primary_key=True))

jobs = Table(
    "jobs",
    metadata,
    Column("name", String, primary_key=True),
    Column("state", String),
    Column("state_at", UtcTime),
    Column("generation", Integer, nullable=False),
    Column("world_size", Integer, nullable=False),
    Column("started_at", UtcTime, nullable=False),
    Column("ended_at", UtcTime),
    Column("step", BigInteger),
    Column("step_at", UtcTime),
    Column("goodput", Float),
)

placements = Table(
    "placements",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("job", String, nullable=False),
    Column("node", String, nullable=False),
    Column("rank", Integer),
    Column("since", UtcTime, nullable=False),
    Column("until", UtcTime),
    Index("placements_by_job", "job", "node"),
)

events = Table(
    "events",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("digest", String, nullable=False, unique=True),
    Column("job", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("document", Text, nullable=False),
    Index("events_by_job", "job", "kind", "at"),
)

verdicts = Table(
    "verdicts",
    metadata,
    Column("id", String, primary_key=True),
    Column("job", String, nullable=False),
    Column("node", String),
    Column("status", String, nullable=False),
    Column("fault", String, nullable=False),
    Column("severity", String, nullable=False),
    Column("detected_at", UtcTime, nullable=False),
    Column("document", Text, nullable=False),
    Index("verdicts_by_time", "detected_at", "id"),
    Index("verdicts_by_job", "job", "status", "detected_at"),
)

verdict_states = Table(
    "verdict_states",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("verdict", String, ForeignKey("verdicts.id"), nullable=False),
    Column("status", String, nullable=False),
    Column("digest", String, nullable=False),
    Column("detected_at", UtcTime, nullable=False),
    Column("document", Text, nullable=False),
    Index("verdict_states_once", "verdict", "digest", unique=True),
)

incidents = Table(
    "incidents",
    metadata,
    Column("id", String, primary_key=True),
    Column("job", String, nullable=False),
    Column("state", String, nullable=False),
    Column("severity", String, nullable=False),
    Column("fault", String, nullable=False),
    Column("nodes", Text, nullable=False),
    Column("opened_at", UtcTime, nullable=False),
    Column("closed_at", UtcTime),
    Column("summary", Text, nullable=False),
    Index("incidents_by_job", "job", "closed_at"),
    Index("incidents_by_time", "opened_at", "id"),
)

incident_verdicts = Table(
    "incident_verdicts",
    metadata,
    Column("verdict", String, ForeignKey("verdicts.id"), primary_key=True),
    Column("incident", String, ForeignKey("incidents.id"), nullable=False),
    Column("position", Integer, nullable=False),
    Index("incident_verdicts_by_incident", "incident", "position"),
)

actions = Table(
    "actions",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("id", String, nullable=False, unique=True),
    Column("incident", String, ForeignKey("incidents.id"), nullable=False),
    Column("kind", String, nullable=False),
    Column("target", String, nullable=False),
    Column("launcher", String, nullable=False),
    Column("state", String, nullable=False),
    Column("dry_run", Boolean, nullable=False),
    Column("idempotency_key", String, nullable=False, unique=True),
    Column("requested_by", String, nullable=False),
    Column("approved_by", String),
    Column("calls", Text, nullable=False),
    Column("result", Text),
    Column("details", Text, nullable=False),
    Index("actions_by_incident", "incident"),
    Index("actions_by_state", "state"),
)

maintenance = Table(
    "maintenance",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("id", String, nullable=False, unique=True),
    Column("nodes", Text, nullable=False),
    Column("job", String),
    Column("begins", UtcTime, nullable=False),
    Column("ends", UtcTime, nullable=False),
    Column("reason", Text, nullable=False),
    Column("declared_at", UtcTime, nullable=False),
    Column("ended_at", UtcTime),
    Index("maintenance_by_end", "ends"),
)

maintenance_words = Table(
    "maintenance_words",
    metadata,
    Column("maintenance", String, ForeignKey("maintenance.id"), primary_key=True),
    Column("job", String, primary_key=True),
    Column("node", String, primary_key=True),
    Column("change", String, nullable=False),
    Column("told_at", UtcTime, nullable=False),
)

ledger = Table(
    "ledger",
    metadata,
    Column("job", String, primary_key=True),
    Column("started_at", UtcTime, primary_key=True),
    Column("ended_at", UtcTime, nullable=False),
    Column("spent_on", String, nullable=False),
    Column("incident", String),
)
