"""What is set about reading a Prometheus."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from paramedic.ingest.sources.access import HttpAccess
from paramedic.ingest.sources.port import SourceError


@dataclass(frozen=True, slots=True)
class PrometheusSettings:
    """A Prometheus, or whatever answers its API, and what to read of it.

    Raises SourceError when the settings can never work.
    """

    url: str
    names: tuple[str, ...]
    """Regular expressions of metric names; each has to match the whole name."""
    matchers: str = ""
    """More label matchers for every query, such as `cluster="a",node=~"gpu-.*"`."""
    access: HttpAccess = field(default_factory=HttpAccess)
    past_seconds: float = 900.0
    """So much is read at the start, and at most so much after a time of silence."""
    past_sample_limit: int = 4_000_000
    """Of a past with more samples only the newest part is read, so that the present is reached in
    well under a minute."""
    timeout_seconds: float = 10.0
    """For one request; a query that takes longer is asked again in smaller parts."""
    settle_seconds: float = 0.3
    """A second is read so long after its end: scrapes need a moment until they can be queried."""
    sample_limit: int = 300_000
    """What one answer should hold at most; time range and instances are cut accordingly."""
    retry_limit_seconds: float = 4.0
    """The longest pause between two tries while it is away."""

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            _ = parts.port  # it is read, and checked, only here
        except ValueError as error:
            raise SourceError(
                f"prometheus url {self.url!r}: {error}: write http(s)://host:port[/prefix]"
            ) from error
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise SourceError(f"prometheus url {self.url!r}: write http(s)://host:port[/prefix]")
        if parts.username is not None:
            raise SourceError("prometheus url: take the password out: set username and password")
        if not self.names or not all(self.names):
            raise SourceError("prometheus names: give at least one pattern of a metric name")
        times = (self.timeout_seconds, self.retry_limit_seconds)
        waits = (self.past_seconds, self.settle_seconds)
        if min(times) <= 0 or min(waits) < 0 or not math.isfinite(sum((*times, *waits))):
            raise SourceError(f"prometheus times must be above 0 s: {self}")
        if min(self.sample_limit, self.past_sample_limit) < 1:
            raise SourceError(f"prometheus sample limits must be at least 1: {self}")
