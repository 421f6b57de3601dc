"""The flags that say where telemetry is read from, the same for `collect` and `up`."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from urllib.parse import urlsplit

from paramedic.api.command_line import extras
from paramedic.api.command_line.errors import UsageError
from paramedic.api.command_line.paths import path
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
    if flags.kafka_topic and flags.kafka is None:
        raise UsageError("--kafka-topic needs --kafka HOST:PORT, the cluster with the topic")
    if flags.user is not None and flags.token_file is not None:
        raise UsageError("--user and --token-file are two ways in: keep one")
    environment = call.surroundings.environment
    if flags.user is not None and not (flags.password_file or PASSWORD_VARIABLE in environment):
        raise UsageError(f"--user needs --password-file or the variable {PASSWORD_VARIABLE}")
    return SourceRequest(
        prometheus=flags.prometheus,
        matchers=flags.matchers,
        exporters=flags.exporters,
        kernel_logs=tuple(flags.kernel_log),
        nvml=flags.nvml,
        kafka=flags.kafka,
        topics=tuple(flags.kafka_topic),
        topic_format=flags.kafka_format,
        access=_access(call),
        environment=environment,
    )


def packages_of_sources(request_flags: object) -> Sequence[str]:
    """The packages that sources with these flags need."""
    needed = [
        (("prometheus_api_client", "requests"), getattr(request_flags, "prometheus", None)),
        (("aiohttp",), getattr(request_flags, "exporters", None)),
        (("pynvml",), getattr(request_flags, "nvml", False)),
        (extras.KAFKA, getattr(request_flags, "kafka", None)),
    ]
    wanted = [package for packages, asked in needed if asked for package in packages]
    return (*extras.COLLECT, *wanted)


def _add_sources(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("sources (at least one)")
    group.add_argument(
        "--prometheus", metavar="URL", help="read a Prometheus, Thanos, Mimir or VictoriaMetrics"
    )
    group.add_argument(
        "--matchers",
        metavar="TEXT",
        default="",
        help='more label matchers for every query, such as cluster="a"',
    )
    group.add_argument(
        "--exporters", metavar="FILE", type=path, help="ask exporters: host:port or URL, one a line"
    )
    group.add_argument(
        "--kernel-log",
        metavar="[NODE=]PATH",
        action="append",
        default=[],
        help="follow a kernel log for Xid errors: a file, /dev/kmsg or journal; may be repeated",
    )
    group.add_argument("--nvml", action="store_true", help="read the GPUs of this host directly")
    group.add_argument("--kafka", metavar="HOST:PORT", help="a Kafka cluster that has telemetry")
    group.add_argument(
        "--kafka-topic",
        metavar="TOPIC",
        action="append",
        default=[],
        help="a topic that another tool fills; may be repeated",
    )
    group.add_argument(
        "--kafka-format", choices=_FORMATS, default=_FORMATS[0], help="what writes these topics"
    )


def _add_access(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("access to Prometheus and exporters")
    group.add_argument(
        "--token-file",
        metavar="FILE",
        type=path,
        help=f"bearer token (or the variable {TOKEN_VARIABLE})",
    )
    group.add_argument("--user", metavar="NAME", help="for basic authentication")
    group.add_argument(
        "--password-file",
        metavar="FILE",
        type=path,
        help=f"the user's password (or the variable {PASSWORD_VARIABLE})",
    )
    group.add_argument("--ca-file", metavar="FILE", type=path, help="authorities to trust (PEM)")
    group.add_argument(
        "--certificate-file", metavar="FILE", type=path, help="our own certificate (PEM)"
    )
    group.add_argument("--key-file", metavar="FILE", type=path, help="the certificate's key (PEM)")
    group.add_argument("--tenant", metavar="NAME", help="sent as X-Scope-OrgID")
    group.add_argument(
        "--no-verify", action="store_true", help="do not check the server's certificate"
    )


def _access(call: Call) -> AccessRequest:
    flags = call.flags
    return AccessRequest(
        token_file=flags.token_file,
        user=flags.user,
        password_file=flags.password_file,
        ca_file=flags.ca_file,
        certificate_file=flags.certificate_file,
        key_file=flags.key_file,
        tenant=flags.tenant,
        verify=not flags.no_verify,
    )


def _refuse_secrets(url: str | None) -> None:
    if url is not None and "@" in urlsplit(url).netloc:
        raise UsageError(
            "--prometheus: a password in a URL shows in process lists and logs: use --user and "
            "--password-file"
        )
