"""`diagnose`, `remediate` and `serve`: the parts as processes of their own."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence

from paramedic.api.command_line import extras
from paramedic.api.command_line.bus_flag import existing_bus
from paramedic.api.command_line.flags import Request, filled, path, port, switch, valued
from paramedic.api.command_line.verbs import Call, Verb
from paramedic.api.settings.schema import Settings

_EXITS = """
exit codes:
  0    ended by SIGTERM or Ctrl-C, everything stored
  2    something cannot work (one line says what)
"""
_DIAGNOSE = f"""\
`paramedic run` starts this by itself. By hand it watches every job whose telemetry is on the bus.

example:
  paramedic diagnose --bus kafka://broker.example:9092
{_EXITS}"""
_REMEDIATE = f"""\
`paramedic run` starts this by itself, with --serve. By hand it needs a bus, a run folder for its
database, and the control socket of the job's launcher; run.json of a run names all three. Of jobs
that somebody else started it can keep the record with --observe, and acts on nothing.

example:
  paramedic remediate --serve --bus kafka://broker.example:9092 --run-folder runs/a \\
      --control-socket /tmp/paramedic-a/control.sock
{_EXITS}"""
_SERVE = f"""\
Reads the database of a run that is going on or is over; changes nothing.

examples:
  paramedic serve --run-folder paramedic-runs/llama-7b-20260101-120000
  curl http://127.0.0.1:8370/v1/verdicts
{_EXITS}"""


def _add_diagnose_flags(parser: ArgumentParser) -> None:
    valued(
        parser,
        "--sign-file",
        "PATH",
        "touched once a second while the loop turns (RUN_FOLDER/diagnose.alive is read by "
        "remediate's /healthz)",
        path,
    )
    metrics = "answer /metrics about this process there: lag, shares, slots, models, drift"
    valued(parser, "--metrics-port", "N", metrics, port)


def _add_remediate_flags(parser: ArgumentParser) -> None:
    launcher = parser.add_mutually_exclusive_group(required=True)
    control = "the local launcher's control socket (`control_socket` in run.json)"
    valued(launcher, "--control-socket", "PATH", control, path)
    switch(launcher, "--observe", "no launcher: decisions are shown, nothing is done")
    switch(parser, "--serve", "serve REST in the same process")
    _add_serve_flags(parser)


def _add_serve_flags(parser: ArgumentParser) -> None:
    folder = "the run's folder; its database is paramedic.sqlite"
    valued(parser, "--run-folder", "FOLDER", folder, path, required=True)
    listener = "an inherited listening socket, instead of --host and --port"
    valued(parser, "--listen-fd", "N", listener, int)


def _packages_of_diagnose(flags: Namespace, settings: Settings) -> Sequence[str]:
    return (*extras.DIAGNOSE, *extras.of_bus(settings), *extras.of_metrics(flags))


def _packages_of_remediate(flags: Namespace, settings: Settings) -> Sequence[str]:
    serve = extras.SERVE if flags.serve else ()
    return (*extras.REMEDIATE, *serve, *extras.of_bus(settings))


def _diagnose(call: Call) -> int:
    address = existing_bus(call, "diagnose")
    from paramedic.api.wiring.diagnose import DiagnoseRequest, diagnose

    return diagnose(_request(DiagnoseRequest, call, address, folder=call.surroundings.folder))


def _remediate(call: Call) -> int:
    address = existing_bus(call, "remediate")
    from paramedic.api.wiring.remediate import RemediateRequest, remediate

    return remediate(_request(RemediateRequest, call, address))


def _request(kind: Callable[..., Request], call: Call, address: str, **others: object) -> Request:
    environment = call.surroundings.environment
    return filled(
        kind,
        call.flags,
        bus_address=address,
        settings=call.settings,
        environment=environment,
        **others,
    )


def _serve(call: Call) -> int:
    from paramedic.api.wiring.serve import serve

    flags, around = call.flags, call.surroundings
    return serve(
        flags.run_folder, flags.listen_fd, call.settings, around.environment, around.stderr
    )


DIAGNOSE = Verb(
    name="diagnose",
    summary="read telemetry from the bus and publish verdicts",
    teaching=_DIAGNOSE,
    setting_flags={"--bus": "bus.address"},
    add_flags=_add_diagnose_flags,
    packages=_packages_of_diagnose,
    execute=_diagnose,
)
REMEDIATE = Verb(
    name="remediate",
    summary="keep incidents, act on verdicts, book the ledger",
    teaching=_REMEDIATE,
    setting_flags={"--bus": "bus.address", "--host": "api.host", "--port": "api.port"},
    add_flags=_add_remediate_flags,
    packages=_packages_of_remediate,
    execute=_remediate,
)
SERVE = Verb(
    name="serve",
    summary="answer REST and metrics from a run's database",
    teaching=_SERVE,
    setting_flags={"--host": "api.host", "--port": "api.port"},
    add_flags=_add_serve_flags,
    packages=lambda _flags, _settings: extras.SERVE,
    execute=_serve,
)
