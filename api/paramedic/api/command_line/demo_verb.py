"""`paramedic demo`: hurts a real training job and shows what becomes of it."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from paramedic.api.command_line import extras
from paramedic.api.command_line.flags import chosen, integer, path, switch, valued
from paramedic.api.command_line.verbs import Call, Verb
from paramedic.api.settings.schema import Settings

_TEACHING = """\
The undisturbed reference run comes first and is cached; the faulted run takes about two minutes.
The system is told nothing about the fault: the demo watches it from outside.

examples:
  paramedic demo                                kill a random rank, watch the recovery
  paramedic demo --fault slow --rank 2          rank 2 gets half of its processor time
  paramedic demo --fault freeze --format json   the summary as JSON on standard output
  paramedic demo --fault none --seconds 300     nothing happens, and nothing may be said

exit codes:
  0    the right rank was named, no other was, and training went to its last step
       (kill, freeze: with the undisturbed run's loss curve; none: no verdict at all)
  1    that did not hold; the reason is printed
  2    something cannot work (one line says what)
  130  Ctrl-C; every process has been ended
"""


def _add_flags(parser: ArgumentParser) -> None:
    faults = ("kill", "freeze", "slow", "none")
    chosen(parser, "--fault", faults, "what happens to the rank (default: kill)")
    valued(
        parser,
        "--steps",
        "STEPS",
        "training steps (default: 400; with --seconds: as many as it takes)",
        int,
    )
    valued(
        parser,
        "--seconds",
        "SECONDS",
        "with --fault none: watch this long instead of to the last step",
        float,
    )
    valued(parser, "--rank", "RANK", "whom to hit (default: random)", integer)
    valued(parser, "--seed", "SEED", "makes the random choice repeatable", integer)
    chosen(
        parser,
        "--format",
        ("table", "json"),
        "summary as a table on standard error, or JSON on standard output (default: table)",
    )
    valued(parser, "--script", "SCRIPT", "another training script", path)
    switch(parser, "--keep", "keep the run folder at the end")
    valued(parser, "--run-folder", "FOLDER", "use and keep this folder", path)


def _packages(_flags: Namespace, settings: Settings) -> Sequence[str]:
    return (*extras.DEMO, *extras.of_bus(settings), "torch")


def _execute(call: Call) -> int:
    from paramedic.api.demo.demo import demo
    from paramedic.api.demo.request import DemoRequest

    flags = call.flags
    request = DemoRequest.checked(
        fault=flags.fault,
        steps=flags.steps,
        seconds=flags.seconds,
        rank=flags.rank,
        seed=flags.seed,
        script=flags.script,
        keep=flags.keep or flags.run_folder is not None,
        run_folder=flags.run_folder,
        settings=call.settings,
        folder=call.surroundings.folder,
        environment=call.surroundings.environment,
    )
    return demo(request, flags.format, call.surroundings.stdout, call.surroundings.stderr)


DEMO = Verb(
    name="demo",
    summary="hurt a real training job and watch it being diagnosed and brought back",
    teaching=_TEACHING,
    setting_flags={
        "--nproc": "job.ranks",
        "--spares": "job.spares",
        "--bus": "bus.address",
        "--port": "api.port",
    },
    add_flags=_add_flags,
    packages=_packages,
    execute=_execute,
    extra="platform,trainer",
)
