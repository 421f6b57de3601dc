"""`diagnose`, `remediate` and `serve`: the parts as processes of their own."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from paramedic.api.command_line import extras
from paramedic.api.command_line.bus_flag import existing_bus
from paramedic.api.command_line.paths import path
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
    parser.add_argument(
        "--sign-file",
        metavar="PATH",
        type=path,
        default=None,
        help="touched once a second while the loop turns (RUN_FOLDER/diagnose.alive is read by "
        "remediate's /healthz)",
    )
    parser.add_argument(
        "--metrics-port",
        metavar="N",
        type=int,
        default=None,
        help="answer /metrics about this process there: lag, shares, slots, dead letters",
    )


def _add_remediate_flags(parser: ArgumentParser) -> None:
    _add_folder_flag(parser)
    launcher = parser.add_mutually_exclusive_group(required=True)
    launcher.add_argument(
        "--control-socket",
        metavar="PATH",
        type=path,
        help="the local launcher's control socket (`control_socket` in run.json)",
    )
    launcher.add_argument(
        "--observe", action="store_true", help="no launcher: decisions are shown, nothing is done"
    )
    parser.add_argument("--serve", action="store_true", help="serve REST in the same process")
    _add_listener_flag(parser)


def _add_serve_flags(parser: ArgumentParser) -> None:
    _add_folder_flag(parser)
    _add_listener_flag(parser)


def _add_folder_flag(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--run-folder",
        metavar="FOLDER",
        type=path,
        required=True,
        help="the run's folder; its database is paramedic.sqlite",
    )


def _add_listener_flag(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--listen-fd",
        metavar="N",
        type=int,
        default=None,
        help="an inherited listening socket, instead of --host and --port",
    )


def _kafka(settings: Settings) -> Sequence[str]:
    return extras.KAFKA if settings.bus.address.startswith("kafka") else ()


def _packages_of_diagnose(flags: Namespace, settings: Settings) -> Sequence[str]:
    metrics = ("prometheus_client",) if flags.metrics_port is not None else ()
    return (*extras.DIAGNOSE, *_kafka(settings), *metrics)


def _packages_of_remediate(flags: Namespace, settings: Settings) -> Sequence[str]:
    serve = extras.SERVE if flags.serve else ()
    return (*extras.REMEDIATE, *serve, *_kafka(settings))


def _packages_of_serve(flags: Namespace, settings: Settings) -> Sequence[str]:
    del flags, settings
    return extras.SERVE


def _diagnose(call: Call) -> int:
    address = existing_bus(call, "diagnose")
    from paramedic.api.wiring.diagnose import DiagnoseRequest, diagnose

    request = DiagnoseRequest(
        bus_address=address,
        settings=call.settings,
        environment=call.surroundings.environment,
        sign_file=call.flags.sign_file,
        metrics_port=call.flags.metrics_port,
    )
    return diagnose(request)


def _remediate(call: Call) -> int:
    address = existing_bus(call, "remediate")
    from paramedic.api.wiring.remediate import RemediateRequest, remediate

    request = RemediateRequest(
        bus_address=address,
        run_folder=call.flags.run_folder,
        control_socket=call.flags.control_socket,
        serve=call.flags.serve,
        listen_fd=call.flags.listen_fd,
        settings=call.settings,
        environment=call.surroundings.environment,
    )
    return remediate(request)


def _serve(call: Call) -> int:
    from paramedic.api.wiring.serve import serve

    return serve(
        call.flags.run_folder, call.flags.listen_fd, call.settings, call.surroundings.stderr
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
    packages=_packages_of_serve,
    execute=_serve,
)
