"""The flags that say where telemetry is read from, the same for `collect` and `up`."""

from __future__ import annotations

import re
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence

from paramedic.api.command_line import extras
from paramedic.api.command_line.errors import UsageError
from paramedic.api.command_line.flags import filled, path, port, repeated, switch, valued
from paramedic.api.command_line.verbs import Call
from paramedic.api.wiring.source_request import (
    PASSWORD_VARIABLE,
    TOKEN_VARIABLE,
    AccessRequest,
    SourceRequest,
)

_FORMATS = ("prometheus-kafka-adapter", "telegraf")
SETTING_FLAGS = {"--job-labels": "collect.job_labels", "--role-labels": "collect.role_labels"}


def add_source_flags(parser: ArgumentParser) -> None:
    """Add the flags to a verb's parser."""
    _add_sources(parser)
    _add_access(parser)


def source_request(call: Call) -> SourceRequest:
    """What the flags ask for. Raises UsageError for what contradicts itself or shows a secret."""
    flags = call.flags
    _refuse_secrets(flags.prometheus)
    if flags.topics and flags.kafka is None:
        raise UsageError("--kafka-topic needs --kafka HOST:PORT, the cluster with the topic")
    if flags.user is not None and flags.token_file is not None:
        raise UsageError("--user and --token-file are two ways in: keep one")
    environment = call.surroundings.environment
    if flags.user is not None and not (flags.password_file or PASSWORD_VARIABLE in environment):
        raise UsageError(f"--user needs --password-file or the variable {PASSWORD_VARIABLE}")
    return filled(
        SourceRequest,
        flags,
        kernel_logs=tuple(flags.kernel_logs),
        topics=tuple(flags.topics),
        access=filled(AccessRequest, flags),
        environment=environment,
    )


def packages_of_sources(flags: Namespace) -> Sequence[str]:
    """The packages that sources with these flags need."""
    needed = (
        (("prometheus_api_client", "requests"), flags.prometheus),
        (("aiohttp",), flags.exporters),
        (("pynvml",), flags.nvml),
        (extras.KAFKA, flags.kafka),
    )
    wanted = [package for packages, asked in needed if asked for package in packages]
    return (*extras.COLLECT, *wanted)


def _add_sources(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("sources (at least one)")
    valued(group, "--prometheus", "URL", "read a Prometheus, Thanos, Mimir or VictoriaMetrics")
    matchers = 'more label matchers for every query, such as cluster="a"'
    valued(group, "--matchers", "TEXT", matchers, default="")
    valued(group, "--exporters", "FILE", "ask exporters: host:port or URL, one a line", path)
    log = "follow a kernel log for Xid errors: a file, /dev/kmsg or journal"
    repeated(group, "--kernel-log", "[NODE=]PATH", log, dest="kernel_logs")
    switch(group, "--nvml", "read the GPUs of this host directly")
    valued(group, "--kafka", "HOST:PORT", "a Kafka cluster that has telemetry", _servers)
    repeated(group, "--kafka-topic", "TOPIC", "a topic that another tool fills", dest="topics")
    group.add_argument(
        "--kafka-format",
        choices=_FORMATS,
        default=_FORMATS[0],
        dest="topic_format",
        help="what writes these topics",
    )


def _add_access(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("access to Prometheus and exporters")
    token = f"bearer token (or the variable {TOKEN_VARIABLE})"
    valued(group, "--token-file", "FILE", token, path)
    valued(group, "--user", "NAME", "for basic authentication")
    password = f"the user's password (or the variable {PASSWORD_VARIABLE})"
    valued(group, "--password-file", "FILE", password, path)
    valued(group, "--ca-file", "FILE", "authorities to trust (PEM)", path)
    valued(group, "--certificate-file", "FILE", "our own certificate (PEM)", path)
    valued(group, "--key-file", "FILE", "the certificate's key (PEM)", path)
    valued(group, "--tenant", "NAME", "sent as X-Scope-OrgID")
    group.add_argument(
        "--no-verify",
        dest="verify",
        action="store_false",
        help="do not check the server's certificate",
    )


def _servers(text: str) -> str:
    """Some brokers. Raises ArgumentTypeError when one of them cannot be."""
    for server in text.split(","):
        host, _, number = server.rpartition(":")
        if not host:
            raise ArgumentTypeError(f"{server!r} is no HOST:PORT")
        port(number)
    return text


def _refuse_secrets(url: str | None) -> None:
    if url is not None and "@" in re.split("[/?#]", url.partition("//")[2])[0]:
        raise UsageError(
            "--prometheus: a password in a URL shows in process lists and logs: use --user and "
            "--password-file"
        )
