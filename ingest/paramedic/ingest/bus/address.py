"""From the address of a bus to the bus."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs

from paramedic.ingest.bus.kafka_settings import KafkaSettings
from paramedic.ingest.bus.memory import MemoryBus
from paramedic.ingest.contract import Bus, BusAddressError

VALID_FORMS = "memory:, unix:/path or kafka://host:port[,host:port][?prefix=paramedic]"
_PREFIX = re.compile(r"[A-Za-z0-9._-]{1,200}")
_KAFKA = re.compile(r"kafka://(?P<servers>[^?]*)(?:\?(?P<query>.*))?", re.DOTALL)
_SERVER = re.compile(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):(?P<port>[0-9]{1,5})")
_PORT_LIMIT = 65_535


def open_bus(address: str, kafka: KafkaSettings | None = None) -> Bus:
    """The bus at an address; nothing is connected before it is used.

    `memory:` is a bus of its own at every call. `kafka` is what is set beside servers and prefix,
    for an address that begins so; a prefix in the address wins. Raises BusAddressError for
    anything else than the valid forms, and when the Kafka client is not installed.
    """
    scheme, _, rest = address.partition(":")
    if address == "memory:":
        return MemoryBus()
    if scheme == "unix" and rest.startswith("/"):
        return _embedded(Path(rest))
    if scheme == "kafka":
        return _kafka(address, kafka or KafkaSettings())
    raise _invalid(address, "unknown kind")


def _embedded(path: Path) -> Bus:
    from paramedic.ingest.bus.embedded.client import EmbeddedBus

    return EmbeddedBus(path)


def _kafka(address: str, settings: KafkaSettings) -> Bus:
    matched = _KAFKA.fullmatch(address)
    if matched is None:
        raise _invalid(address, "kafka: goes on with //host:port")
    servers = tuple(matched["servers"].split(","))
    for server in servers:
        parts = _SERVER.fullmatch(server)
        if parts is None or not 1 <= int(parts["port"]) <= _PORT_LIMIT:
            raise _invalid(address, f"{server!r} is not host:port")
    prefix = _prefix(address, matched["query"] or "", settings.prefix)
    return _kafka_bus(replace(settings, servers=servers, prefix=prefix))


def _prefix(address: str, query: str, otherwise: str) -> str:
    options = parse_qs(query, keep_blank_values=True)
    (prefix,) = options.pop("prefix", [otherwise])[-1:]
    if options:
        raise _invalid(address, f"unknown option {min(options)!r}")
    if not _PREFIX.fullmatch(prefix):
        raise _invalid(address, f"prefix {prefix!r} is no part of a topic's name")
    return prefix


def _kafka_bus(settings: KafkaSettings) -> Bus:
    try:
        from paramedic.ingest.bus.kafka import KafkaBus
    except ModuleNotFoundError as error:
        raise BusAddressError(
            f"a bus over Kafka needs {error.name}: pip install 'paramedic[ingest]'"
        ) from error
    return KafkaBus(settings)


def _invalid(address: str, reason: str) -> BusAddressError:
    return BusAddressError(f"bus address {address!r}: {reason}; valid are {VALID_FORMS}")
