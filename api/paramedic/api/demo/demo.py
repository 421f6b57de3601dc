"""`paramedic demo`: reference run, watched run with a fault, summary."""

from __future__ import annotations

import logging
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from paramedic.api.demo.curve import Comparison, Curve, compare, steps_done
from paramedic.api.demo.losses import read_curve
from paramedic.api.demo.reference import reference_curve
from paramedic.api.demo.report import write_json, write_reasons, write_table
from paramedic.api.demo.request import InjectedFault
from paramedic.api.demo.screen import open_screen
from paramedic.api.demo.script import find_script
from paramedic.api.demo.summary import Ending, broken_promises, summarise
from paramedic.api.demo.watched_run import JOB, LOSSES, Watched, watch_run
from paramedic.api.wiring.bus import check_bus
from paramedic.api.wiring.known_errors import known_errors_in
from paramedic.api.wiring.narration import Line, Theme
from paramedic.api.wiring.run_folder import require_usable
from paramedic.api.wiring.stored_job import goodput_of

if TYPE_CHECKING:
    from paramedic.api.demo.request import DemoRequest
    from paramedic.api.demo.screen import Screen

_HELD = 0
_DID_NOT_HOLD = 1


def demo(request: DemoRequest, form: str, stdout: TextIO, stderr: TextIO) -> int:
    """Run the demo; 0 when everything held, 1 with the reasons when something did not.

    Raises DemoError when there is nothing to show, and PreflightError, BusError or ApiError, before
    anything is started, when the run that is watched could not be.
    """
    script = find_script(request.script, Path(__file__), Path(sys.prefix))
    require_a_run(request)
    screen = open_screen(stderr)
    home = Path(tempfile.mkdtemp(prefix="paramedic-demo-"))
    # What libraries log has no place between the lines of the timeline.
    logging.basicConfig(filename=home / "demo.log", level=logging.INFO)
    run_folder = (request.folder / request.run_folder) if request.run_folder else home / "run"
    held = False
    try:
        reference = _reference(request, script, screen)
        watched = watch_run(request, script, run_folder, home / "run.log", screen)
        screen.close()
        ending = _ending(request, watched, reference, run_folder)
        held = _report(request, form, watched, ending, stdout, stderr)
    finally:
        screen.close()
        _tidy(home, stderr, keep=request.keep or not held)
    return _HELD if held else _DID_NOT_HOLD


def require_a_run(request: DemoRequest) -> None:
    """Find out what the watched run would find out when the reference run has taken its minutes."""
    from paramedic.api.rest.loopback import loopback_socket

    settings = request.settings
    check_bus(settings, request.environment)
    known_errors_in(settings)
    loopback_socket(settings.api.host, settings.api.port).close()
    if request.run_folder is not None:
        require_usable(request.folder / request.run_folder)


def _reference(request: DemoRequest, script: Path, screen: Screen) -> Curve | None:
    if request.fault is InjectedFault.NONE:
        return None
    screen.line(Line(Theme.DEMO, "undisturbed reference run: made once, then cached"), None)
    curve = reference_curve(request, script, screen.status)
    screen.line(Line(Theme.DEMO, f"reference has {len(curve)} losses"), None)
    return curve


def _ending(
    request: DemoRequest, watched: Watched, reference: Curve | None, run_folder: Path
) -> Ending:
    ranks = request.settings.job.ranks
    curve = read_curve(run_folder / LOSSES)
    comparison = (
        Comparison(identical=False)
        if reference is None
        else compare(reference, curve, request.steps, ranks)
    )
    return Ending(
        exit_code=watched.exit_code,
        steps_done=steps_done(curve, ranks),
        goodput=goodput_of(run_folder, JOB),
        loss_curve_identical=None if reference is None else comparison.identical,
        curve_difference=comparison.difference,
    )


def _report(
    request: DemoRequest,
    form: str,
    watched: Watched,
    ending: Ending,
    stdout: TextIO,
    stderr: TextIO,
) -> bool:
    """Write the summary; whether every promise held."""
    steps = request.steps if request.seconds is None else ending.steps_done
    summary = summarise(
        request.fault, steps, watched.injection, watched.observed, watched.ranks_of_nodes, ending
    )
    reasons = broken_promises(summary, ending)
    if form == "json":
        write_json(summary, stdout)
        write_reasons(reasons, stderr)
    else:
        write_table(summary, reasons, stderr)
    return not reasons


def _tidy(home: Path, stderr: TextIO, *, keep: bool) -> None:
    if keep:
        stderr.write(f"logs and database are kept in {home}\n")
    else:
        shutil.rmtree(home)
