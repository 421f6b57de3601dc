"""`paramedic up`: verdicts about jobs that run already, from one command."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import replace

from paramedic.api.command_line import extras
from paramedic.api.command_line.errors import UsageError
from paramedic.api.command_line.flags import chosen, path, valued
from paramedic.api.command_line.source_flags import (
    SETTING_FLAGS,
    add_source_flags,
    packages_of_sources,
    source_request,
)
from paramedic.api.command_line.verbs import Call, Verb
from paramedic.api.settings.schema import Settings

_TEACHING = """\
Reads the last 15 minutes and then what comes, finds the jobs by their labels, and tells which
machine departs from its peers. It changes nothing: every action is a dry run. With --kafka alone
the telemetry is on that cluster's paramedic topics already, put there by `paramedic collect`.

examples:
  paramedic up --prometheus http://prometheus:9090
  paramedic up --exporters hosts.txt --kernel-log node-1=/var/log/node-1/kern.log
  paramedic up --kafka broker.example:9092
  paramedic up --kafka broker.example:9092 --kafka-topic metrics --kafka-format telegraf
  curl http://127.0.0.1:8370/v1/verdicts

exit codes:
  0    ended by SIGTERM or Ctrl-C; every process has been ended
  2    something cannot work (one line says what); nothing was started
"""


def _add_flags(parser: ArgumentParser) -> None:
    add_source_flags(parser)
    valued(
        parser,
        "--run-folder",
        "FOLDER",
        "where database and logs go (default: a new folder in paramedic-runs)",
        path,
    )
    chosen(
        parser,
        "--format",
        ("table", "jsonl"),
        "jsonl: verdicts on standard output, one JSON object a line",
    )


def _packages(flags: Namespace, settings: Settings) -> Sequence[str]:
    ring, bus = extras.of_ring(settings), extras.of_bus(settings)
    return (*extras.UP, *packages_of_sources(flags), *ring, *bus)


def _execute(call: Call) -> int:
    sources = source_request(call)
    settings = call.settings
    if sources.kafka is not None and sources.is_empty:
        bus = replace(settings.bus, address=f"kafka://{sources.kafka}")
        settings = replace(settings, bus=bus)
    elif sources.is_empty:
        raise UsageError(
            "up needs to know where telemetry is: --prometheus URL, --exporters FILE or "
            "--kafka HOST:PORT"
        )
    from paramedic.api.wiring.up import UpRequest, up

    around = call.surroundings
    request = UpRequest(
        sources=sources,
        run_folder=call.flags.run_folder,
        settings=settings,
        folder=around.folder,
        environment=around.environment,
        as_json_lines=call.flags.format == "jsonl",
    )
    return up(request, around.stdout, around.stderr)


UP = Verb(
    name="up",
    summary="watch the jobs of a cluster that runs already, and name what is failing",
    teaching=_TEACHING,
    setting_flags={
        "--bus": "bus.address",
        "--host": "api.host",
        "--port": "api.port",
        **SETTING_FLAGS,
    },
    add_flags=_add_flags,
    packages=_packages,
    execute=_execute,
)
