"""`paramedic collect`: telemetry of a cluster that runs already, onto the bus."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from paramedic.api.command_line import extras
from paramedic.api.command_line.bus_flag import existing_bus
from paramedic.api.command_line.errors import UsageError
from paramedic.api.command_line.flags import path, port, switch, valued
from paramedic.api.command_line.source_flags import (
    SETTING_FLAGS,
    add_source_flags,
    packages_of_sources,
    source_request,
)
from paramedic.api.command_line.verbs import Call, Verb
from paramedic.api.settings.schema import Settings

_TEACHING = """\
Finds the jobs by their labels, puts every sample into its job and slot, and publishes. Where no
label names a job, all busy hosts are one job. `paramedic up` starts this by itself.

examples:
  paramedic collect --prometheus http://prometheus:9090 --bus kafka://broker.example:9092
  paramedic collect --exporters hosts.txt --kernel-log /dev/kmsg --bus kafka://broker.example:9092
  paramedic collect --prometheus http://prometheus:9090 --once      what would be published

exit codes:
  0    ended by SIGTERM or Ctrl-C; with --once: something would be published
  1    with --once: nothing would be published, and a line says what is missing
  2    something cannot work (one line says what)
"""


def _add_flags(parser: ArgumentParser) -> None:
    add_source_flags(parser)
    switch(
        parser,
        "--once",
        "publish nothing: print the jobs that are found, one JSON object a line, and end",
    )
    metrics = "answer /metrics about collect itself on this port of api.host"
    valued(parser, "--metrics-port", "N", metrics, port)
    valued(parser, "--sign-file", "PATH", "touched while the loop turns", path)
    valued(
        parser,
        "--tell-fd",
        "N",
        "an inherited descriptor that gets the lines for people too",
        int,
    )


def _packages(flags: Namespace, settings: Settings) -> Sequence[str]:
    return (*packages_of_sources(flags), *extras.of_bus(settings), *extras.of_metrics(flags))


def _execute(call: Call) -> int:
    sources = source_request(call)
    if sources.is_empty:
        raise UsageError("collect needs a source: --prometheus URL, --exporters FILE, …")
    if call.flags.once:
        from paramedic.api.wiring.collect_once import collect_once

        around = call.surroundings
        return collect_once(sources, call.settings, around.stdout, around.stderr)
    address = existing_bus(call, "collect")
    from paramedic.api.wiring.collect import CollectRequest, collect

    request = CollectRequest(
        bus_address=address,
        sources=sources,
        settings=call.settings,
        environment=call.surroundings.environment,
        metrics_port=call.flags.metrics_port,
        sign_file=call.flags.sign_file,
        tell_descriptor=call.flags.tell_fd,
    )
    return collect(request, call.surroundings.stderr)


COLLECT = Verb(
    name="collect",
    summary="read a cluster's telemetry from Prometheus, exporters, logs or Kafka, and publish it",
    teaching=_TEACHING,
    setting_flags={"--bus": "bus.address", **SETTING_FLAGS},
    add_flags=_add_flags,
    packages=_packages,
    execute=_execute,
    extra="ingest",
)
