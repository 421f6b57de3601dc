"""`paramedic run`: a training job with everything around it."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from paramedic.api.command_line import extras
from paramedic.api.command_line.errors import UsageError
from paramedic.api.command_line.flags import filled, path, switch, valued
from paramedic.api.command_line.verbs import Call, Verb
from paramedic.api.settings.schema import Settings

_TEACHING = """\
examples:
  paramedic run -- python train.py --steps 400
  paramedic run --nproc 8 --spares 2 --job llama-7b -- python train.py
  paramedic run --bus kafka://broker.example:9092 -- python train.py
  paramedic run --bare -- python train.py          launcher and ranks only, no extras needed

exit codes:
  0     the job ended by itself and well
  2     something cannot work (one line says what); nothing was started
  130   Ctrl-C; every process of the run has been ended
  143   the same after SIGTERM; 129 after SIGHUP (the terminal was closed)
  else  the exit code of the rank that failed; 128 + N when signal N ended it
"""


def _add_flags(parser: ArgumentParser) -> None:
    valued(parser, "--job", "NAME", "the job's name (default: of the script)")
    valued(
        parser,
        "--run-folder",
        "FOLDER",
        "where run.json, logs, database and checkpoints go (default: a new folder in "
        "paramedic-runs)",
        path,
    )
    switch(parser, "--bare", "only launcher and ranks: no telemetry, no diagnosis")


def _packages(flags: Namespace, settings: Settings) -> Sequence[str]:
    if flags.bare:
        return ()
    return (*extras.RUN, *extras.of_ring(settings), *extras.of_bus(settings))


def _execute(call: Call) -> int:
    if not call.command or not call.command[0]:
        raise UsageError(
            "run needs the command after --, such as: paramedic run -- python train.py"
        )
    from paramedic.api.wiring.request import RunRequest
    from paramedic.api.wiring.run import run

    request = filled(
        RunRequest,
        call.flags,
        command=call.command,
        settings=call.settings,
        folder=call.surroundings.folder,
        environment=call.surroundings.environment,
    )
    return run(request, call.surroundings.stderr)


RUN = Verb(
    name="run",
    summary="start a training job with telemetry, diagnosis and recovery around it",
    teaching=_TEACHING,
    setting_flags={
        "--nproc": "job.ranks",
        "--spares": "job.spares",
        "--bus": "bus.address",
        "--host": "api.host",
        "--port": "api.port",
    },
    add_flags=_add_flags,
    packages=_packages,
    execute=_execute,
    takes_command=True,
)
