"""Times in the database: exact to the microsecond, in order, and UTC whatever zone they came in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.dialects import sqlite

from paramedic.remediation.store.tables import UtcTime

COLUMN = UtcTime()
DIALECT = sqlite.dialect()
ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=ZONES)  # noqa: DTZ001


def kept(moment: datetime) -> int:
    found = COLUMN.process_bind_param(moment, DIALECT)
    assert found is not None
    return found


@given(MOMENTS)
def test_a_moment_comes_back_exactly_and_in_utc(moment: datetime) -> None:
    back = COLUMN.process_result_value(kept(moment), DIALECT)
    assert back == moment
    assert back is not None
    assert back.tzinfo is UTC


@given(MOMENTS, MOMENTS)
def test_the_database_sorts_as_time_does(one: datetime, other: datetime) -> None:
    assert (kept(one) < kept(other)) == (one < other)


def test_what_has_no_time_has_none() -> None:
    assert COLUMN.process_bind_param(None, DIALECT) is None
    assert COLUMN.process_result_value(None, DIALECT) is None


def test_a_time_without_a_zone_is_never_guessed() -> None:
    with pytest.raises(TypeError):
        COLUMN.process_bind_param(datetime(2026, 1, 1), DIALECT)  # noqa: DTZ001
