"""What can be a time: telemetry of the years 1970 to 9999, in Unix seconds."""

from __future__ import annotations

_END_SECONDS = 253_402_300_800.0  # the year 10000
_MILLISECONDS = 1000.0


def is_moment(seconds: float) -> bool:
    """Whether there is such a moment; NaN and the infinities are none.

    >>> is_moment(1767225600.0), is_moment(float("nan")), is_moment(1e400)
    (True, False, False)
    """
    return 0.0 <= seconds < _END_SECONDS


def is_stamp(text: str) -> bool:
    """Whether a page's timestamp can be one: milliseconds, or seconds in OpenMetrics."""
    try:
        return is_moment(float(text) / _MILLISECONDS)
    except ValueError:
        return False
