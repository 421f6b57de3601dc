"""Opens the sources that were asked for, each with its reader and its way in."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from paramedic.api.wiring.errors import PreflightError
from paramedic.api.wiring.source_request import PASSWORD_VARIABLE, TOKEN_VARIABLE
from paramedic.ingest.contract import NodeName
from paramedic.ingest.sources.port import SourceAwayError, SourceError

if TYPE_CHECKING:
    from paramedic.api.settings.schema import Settings
    from paramedic.api.wiring.source_request import SourceRequest
    from paramedic.ingest.sources.access import HttpAccess
    from paramedic.ingest.sources.kafka_topics.consumer import Record
    from paramedic.ingest.sources.kernel.feeds import LineFeed
    from paramedic.ingest.sources.port import Source
    from paramedic.ingest.sources.prometheus.client import Entry
    from paramedic.ingest.sources.prometheus.configuration import PrometheusSettings

_KERNEL_DEVICE = "/dev/kmsg"
_JOURNAL = "journal"
_JOURNAL_COMMAND = ("journalctl", "--dmesg", "--follow", "--output", "json")
_CHECK_SECONDS = 5.0
_FAMILIES = ("DCGM_FI_.*", "DCGM_EXP_.*", "dcgm_.*", "nvidia_smi_.*")
"""Names of which also those are read that the catalogue does not know."""

PutAway = Callable[["Record", str], None]


def open_sources(
    request: SourceRequest,
    settings: Settings,
    put_away: PutAway,
    more_names: tuple[str, ...] = (),
) -> tuple[Source, ...]:
    """The sources, ready to be run; `put_away` takes messages of other tools that are unreadable.
    `more_names` are read from a Prometheus besides the catalogue's.

    Raises PreflightError when one can never work as it was asked for.
    """
    try:
        return tuple(_sources(request, settings, put_away, more_names))
    except SourceError as error:
        raise PreflightError(str(error)) from error


def check_prometheus(request: SourceRequest, settings: Settings) -> None:
    """Ask the Prometheus two light questions, one of them with the matchers.

    Raises PreflightError when it does not answer, or refuses the matchers.
    """
    if request.prometheus is None:
        return
    from paramedic.ingest.sources.prometheus.client import AnswerTooLargeError, PrometheusApi

    try:
        api = PrometheusApi(_prometheus_settings(request, settings, _CHECK_SECONDS))
        try:
            api.now_seconds()
            check_matchers(api, request.matchers)
        finally:
            api.close()
    except (SourceError, SourceAwayError, AnswerTooLargeError) as error:
        raise PreflightError(f"--prometheus: {error}") from error


class Queries(Protocol):
    """Of a Prometheus' API, what a check needs."""

    def query(self, expression: str, at_seconds: float | None = None) -> list[Entry]:
        """The answer to an instant query. Raises QueryError when it is refused."""
        ...


def check_matchers(api: Queries, matchers: str) -> None:
    """Raises PreflightError for matchers that are refused; a process that was given them would be
    started again and again."""
    from paramedic.ingest.sources.prometheus.client import QueryError
    from paramedic.ingest.sources.prometheus.queries import selectors

    if not matchers.strip():
        return
    (selector,) = selectors(("up",), matchers)
    try:
        api.query(f"count({selector})")
    except QueryError as error:
        raise PreflightError(f"--matchers {matchers!r}: {error}") from error


def _sources(
    request: SourceRequest, settings: Settings, put_away: PutAway, more_names: tuple[str, ...]
) -> Iterator[Source]:
    if request.prometheus is not None:
        yield _prometheus(request, settings, more_names)
    if request.exporters is not None:
        yield _scraper(request, request.exporters, settings)
    for log in request.kernel_logs:
        yield _kernel_log(log)
    if request.nvml:
        from paramedic.ingest.sources.nvml.source import NvmlSource

        yield NvmlSource(_this_host(), time.time, settings.collect.interval_seconds)
    if request.topics:
        yield _topics(request, settings, put_away)


def _prometheus(request: SourceRequest, settings: Settings, more_names: tuple[str, ...]) -> Source:
    from paramedic.ingest.sources.prometheus.source import PrometheusSource

    asked = _prometheus_settings(request, settings)
    return PrometheusSource(replace(asked, names=(*asked.names, *more_names)), time.time)


def _prometheus_settings(
    request: SourceRequest, settings: Settings, timeout_seconds: float = 10.0
) -> PrometheusSettings:
    from paramedic.ingest.sources.prometheus.configuration import PrometheusSettings

    return PrometheusSettings(
        url=request.prometheus or "",
        names=metric_names(),
        matchers=request.matchers,
        access=http_access(request),
        past_seconds=settings.collect.past_seconds,
        timeout_seconds=timeout_seconds,
    )


def metric_names() -> tuple[str, ...]:
    """Patterns of the names that are looked for: whole families, and the catalogue's others."""
    from paramedic.ingest.catalogue.catalogue import shipped_catalogue

    families = re.compile("|".join(_FAMILIES))
    known = shipped_catalogue().exported
    others = sorted(name for name in known if not families.fullmatch(name))
    amd = [f"amd_{name}" for name in others if known[name].dialect == "amd"]
    return (*_FAMILIES, *others, *amd)


def _scraper(request: SourceRequest, hosts: Path, settings: Settings) -> Source:
    from paramedic.ingest.sources.scraping.source import ScrapeSettings, ScrapeSource
    from paramedic.ingest.sources.scraping.targets import read_targets

    return ScrapeSource(
        read_targets(hosts),
        ScrapeSettings(
            interval_seconds=settings.collect.interval_seconds, access=http_access(request)
        ),
        time.time,
    )


def _kernel_log(asked_for: str) -> Source:
    from paramedic.ingest.sources.kernel.source import KernelLogSource

    node, equals, place = asked_for.rpartition("=")
    if not place or (equals and not node):
        raise PreflightError(f"--kernel-log {asked_for!r}: write [NODE=]PATH or [NODE=]journal")
    open_feed = _feed(place)
    started_at = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    return KernelLogSource(
        NodeName(node) if node else _this_host(), place, open_feed, time.time, started_at
    )


def _feed(place: str) -> Callable[[], LineFeed]:
    from paramedic.ingest.sources.kernel.feeds import GrowingFile, KernelDevice, ProgramOutput

    if place == _KERNEL_DEVICE:
        return KernelDevice
    if place == _JOURNAL:
        return lambda: ProgramOutput(_JOURNAL_COMMAND)
    return lambda: GrowingFile(Path(place))


def _topics(request: SourceRequest, settings: Settings, put_away: PutAway) -> Source:
    from paramedic.api.wiring.kafka import kafka_settings
    from paramedic.ingest.sources.kafka_topics.consumer import KafkaRecords
    from paramedic.ingest.sources.kafka_topics.source import KafkaTopicsSource, MessageFormat

    servers = tuple((request.kafka or "").split(","))
    kafka = replace(kafka_settings(settings, request.environment), servers=servers)
    return KafkaTopicsSource(
        f"{request.kafka} {', '.join(request.topics)}",
        MessageFormat(request.topic_format),
        lambda: KafkaRecords(kafka, request.topics, time.monotonic),
        put_away,
        time.time,
    )


def http_access(request: SourceRequest) -> HttpAccess:
    """The way in that was asked for. Raises PreflightError for a password that cannot be read."""
    from paramedic.ingest.sources.access import HttpAccess

    asked = request.access
    token = request.environment.get(TOKEN_VARIABLE) if asked.user is None else None
    return HttpAccess(
        bearer_token=None if asked.token_file is not None else token,
        bearer_token_file=asked.token_file,
        username=asked.user,
        password=_password(request),
        ca_file=asked.ca_file,
        certificate_file=asked.certificate_file,
        key_file=asked.key_file,
        tenant=asked.tenant,
        verify=asked.verify,
    )


def _password(request: SourceRequest) -> str | None:
    asked = request.access
    if asked.user is None:
        return None
    if asked.password_file is None:
        return request.environment.get(PASSWORD_VARIABLE)
    try:
        return asked.password_file.read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise PreflightError(f"--password-file {asked.password_file}: {error}") from error


def _this_host() -> NodeName:
    return NodeName(socket.gethostname())
