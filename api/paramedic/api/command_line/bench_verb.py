"""`paramedic bench`: detectors of faulty machines compared, our verdicts tried, the soak."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from pathlib import Path

from paramedic.api.command_line import extras
from paramedic.api.command_line.flags import chosen, path, seed, valued, whole
from paramedic.api.command_line.verbs import Call, Verb
from paramedic.api.settings.schema import Settings

_TEACHING = """\
detection: draws jobs in which machines fail, and jobs in which none does; trains every detector,
chooses its threshold on validation jobs, and scores it on test jobs that nothing was tuned on: was
the right machine named, how soon, and how often was a healthy one. Ours is scored by its verdicts.
verdicts: sets our verdicts alone before recordings whose truth is known, or before synthetic jobs,
and tells each mistake. soak: two months of healthy job-hours, and who was accused in them.
A detection or a soak that was ended goes on where it stopped when the same is called again. What
each figure means: docs/detection-benchmark.md.

examples:
  paramedic bench detection                      minutes on two cores
  paramedic bench detection --detectors paramedic,minder,minder_every_second
  paramedic bench detection --full --out benchmarks/results/detection-full --format json
  paramedic bench verdicts --number 10 --healthy-hours 2
  paramedic bench verdicts --recordings recordings
  paramedic bench soak

exit codes:
  0    the episodes are hard enough, and ours has the best F1 (--full: p < 0.01 for each rival, and
       every bar is held); of that, what the --detectors that took part can tell. soak: at most 3
       false alarms. verdicts: whatever was found
  1    that did not hold; the line says what
  2    it cannot be run (one line says why)
  130  Ctrl-C; what was done is kept, and the soak tells how far it has come
"""
_WORKERS = 2
_TRIALS = 30
_SOAK_HOURS = 1440
_MOST, _MOST_WORKERS = 1_000_000, 1024
_REFERENCE_DATA = "PARAMEDIC_REFERENCE_DATA"


def _names(text: str) -> tuple[str, ...]:
    """Names with commas between them. Raises ArgumentTypeError."""
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise ArgumentTypeError(f"{text!r} has an empty name in it")
    return names


def _number(text: str) -> int:
    """So many of something. Raises ArgumentTypeError."""
    return whole(text, 0, _MOST)


def _workers(text: str) -> int:
    """So many processes. Raises ArgumentTypeError."""
    return whole(text, 1, _MOST_WORKERS)


def _add_flags(parser: ArgumentParser) -> None:
    parser.add_argument("what", choices=("detection", "verdicts", "soak"), help="what is run")
    size = parser.add_mutually_exclusive_group()
    quick = "a few dozen episodes, minutes (default)"
    full = "300 fault episodes and 200 healthy job-hours on test, about four hours"
    size.add_argument(
        "--quick", dest="size", action="store_const", const="quick", default="quick", help=quick
    )
    size.add_argument("--full", dest="size", action="store_const", const="full", help=full)
    form = "a table on standard error, or one JSON object on standard output"
    chosen(parser, "--format", ("table", "json"), f"{form} (default: table)")
    valued(parser, "--detectors", "A,B", "only these (default: all)", _names)
    valued(parser, "--seed", "N", "what is drawn follows from it (default: 0)", seed, 0)
    out = "where results are kept (default: bench/detection-SIZE-SEED, bench/soak-HOURS-SEED)"
    valued(parser, "--out", "FOLDER", out, path)
    workers = f"processes that work side by side (default: {_WORKERS})"
    real = f"real sets of others, run as well (default: ${_REFERENCE_DATA})"
    valued(parser, "--reference-data", "FOLDER", real, path)
    valued(parser, "--workers", "N", workers, _workers, _WORKERS)
    _add_flags_of_trials(parser)


def _add_flags_of_trials(parser: ArgumentParser) -> None:
    trials = parser.add_argument_group("verdicts and soak")
    recordings = "recordings, each with a truth.json (default: jobs of the synthetic cluster)"
    valued(trials, "--recordings", "FOLDER", recordings, path)
    chosen(trials, "--part", ("validation", "test", "train"), "jobs of this part of the draw")
    number = f"so many jobs in which something breaks (default: {_TRIALS})"
    valued(trials, "--number", "N", number, _number, _TRIALS)
    hours = f"and so many healthy job-hours (default: 0; soak: {_SOAK_HOURS})"
    valued(trials, "--healthy-hours", "N", hours, _number)


def _packages(_flags: Namespace, _settings: Settings) -> Sequence[str]:
    return extras.BENCH


def _execute(call: Call) -> int:
    return {"detection": _compare, "verdicts": _try, "soak": _soak}[call.flags.what](call)


def _compare(call: Call) -> int:
    from paramedic.api.wiring.bench import BenchRequest, bench_detection

    flags, around = call.flags, call.surroundings
    reference = flags.reference_data or around.environment.get(_REFERENCE_DATA)
    request = BenchRequest(
        size=flags.size,
        detectors=flags.detectors,
        seed=flags.seed,
        out=_out(call, f"detection-{flags.size}-{flags.seed}"),
        workers=flags.workers,
        reference_data=around.folder / reference if reference else None,
    )
    return bench_detection(request, flags.format == "json", around.stdout, around.stderr)


def _try(call: Call) -> int:
    from paramedic.api.wiring.bench_verdicts import TrialRequest, bench_verdicts

    flags, around = call.flags, call.surroundings
    request = TrialRequest(
        recordings=None if flags.recordings is None else around.folder / flags.recordings,
        part=flags.part,
        number=flags.number,
        healthy_hours=flags.healthy_hours or 0,
        seed=flags.seed,
        workers=flags.workers,
    )
    return bench_verdicts(request, flags.format == "json", around.stdout, around.stderr)


def _soak(call: Call) -> int:
    from paramedic.api.wiring.bench_soak import SoakRequest, bench_soak

    flags, around = call.flags, call.surroundings
    hours = _SOAK_HOURS if flags.healthy_hours is None else flags.healthy_hours
    out = _out(call, f"soak-{hours}-{flags.seed}")
    request = SoakRequest(hours, flags.seed, out, flags.workers)
    return bench_soak(request, flags.format == "json", around.stdout, around.stderr)


def _out(call: Call, default: str) -> Path:
    chosen_folder = call.flags.out
    return call.surroundings.folder / (
        f"bench/{default}" if chosen_folder is None else chosen_folder
    )


BENCH = Verb(
    name="bench",
    summary="compare detectors of faulty machines, try the verdicts, soak",
    teaching=_TEACHING,
    add_flags=_add_flags,
    packages=_packages,
    execute=_execute,
)
