"""Repeats the demo for each fault and adds up what it promised and what it measured.

    python benchmarks/demo_runs.py --runs 10 --steps 120

The rank that is hit is chosen at random, by the run's number as seed. Exit 1 when a run broke its
promise (a wrong rank named, training that did not reach its last step, another loss curve), or when
ranks were named too late: on average over the faults, or a frozen one.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import mean, median

FAULTS = ("kill", "freeze", "slow")
RUN_TIMEOUT_SECONDS = 900
LONGEST_MEAN_SECONDS = 3.6
"""To the verdict that names the rank: mean of the means of the three faults."""
LONGEST_FREEZE_SECONDS = 4.0
"""The same of frozen ranks alone: by process state and progress, not by heart-beats."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What the runs of one fault came to; times in seconds from the injection."""

    fault: str
    runs: int
    promises_held: int
    right_rank_named: int
    wrong_verdicts: int
    curves_identical: int
    steps_lost: int
    localised_mean: float | None
    localised_median: float | None
    localised_worst: float | None
    recovered_median: float | None
    recovered_worst: float | None


def run_demo(fault: str, seed: int, steps: int, bus: str) -> dict[str, object]:
    """The summary of one demo (formats, section 5), with `held` for its exit code."""
    command = [sys.executable, "-m", "paramedic.api.command_line", "demo"]
    options = ["--fault", fault, "--seed", str(seed), "--steps", str(steps), "--bus", bus]
    done = subprocess.run(
        [*command, *options, "--port", "0", "--format", "json"],
        capture_output=True,
        text=True,
        timeout=RUN_TIMEOUT_SECONDS,
        check=False,
    )
    lines = done.stdout.splitlines()
    if not lines:
        sys.stderr.write(done.stderr[-2000:])
        return {"held": False}
    return {**json.loads(lines[-1]), "held": done.returncode == 0}


def tally(fault: str, summaries: Sequence[dict[str, object]]) -> Tally:
    """Add up the summaries of one fault."""
    localised = _numbers(summaries, "seconds_to_localise")
    recovered = _numbers(summaries, "seconds_to_recover")
    return Tally(
        fault=fault,
        runs=len(summaries),
        promises_held=sum(bool(one["held"]) for one in summaries),
        right_rank_named=sum(
            one.get("rank_named") is not None and one["rank_named"] == one["rank_hit"]
            for one in summaries
        ),
        wrong_verdicts=int(sum(_numbers(summaries, "wrong_verdicts"))),
        curves_identical=sum(bool(one.get("loss_curve_identical")) for one in summaries),
        steps_lost=int(sum(_numbers(summaries, "steps_lost"))),
        localised_mean=mean(localised) if localised else None,
        localised_median=median(localised) if localised else None,
        localised_worst=max(localised, default=None),
        recovered_median=median(recovered) if recovered else None,
        recovered_worst=max(recovered, default=None),
    )


def overall_mean(tallies: Sequence[Tally]) -> float | None:
    """Mean seconds to localise over all three faults; None where one was not measured."""
    means = {one.fault: one.localised_mean for one in tallies}
    known = [seconds for fault in FAULTS if (seconds := means.get(fault)) is not None]
    return mean(known) if len(known) == len(FAULTS) else None


def broken_bars(tallies: Sequence[Tally]) -> list[str]:
    """What was promised and did not hold, a line each."""
    broken = [
        f"{one.fault}: {one.runs - one.promises_held} of {one.runs} runs broke their promise"
        for one in tallies
        if one.promises_held < one.runs
    ]
    overall = overall_mean(tallies)
    if overall is not None and overall > LONGEST_MEAN_SECONDS:
        broken.append(f"named after {overall:.2f} s on average, not {LONGEST_MEAN_SECONDS} s")
    broken += [
        f"freeze: named after {one.localised_mean:.2f} s on average, not {LONGEST_FREEZE_SECONDS} s"
        for one in tallies
        if one.fault == "freeze" and (one.localised_mean or 0.0) > LONGEST_FREEZE_SECONDS
    ]
    return broken


def _numbers(summaries: Sequence[dict[str, object]], field: str) -> list[float]:
    return [float(v) for one in summaries if isinstance(v := one.get(field), int | float)]


def main() -> int:
    """Run everything, print the tallies."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=10, help="runs for each fault (10)")
    parser.add_argument("--steps", type=int, default=120, help="training steps a run (120)")
    parser.add_argument("--bus", default="embedded", help="as for `paramedic demo` (embedded)")
    parser.add_argument("--fault", action="append", choices=FAULTS, help="all three by default")
    options = parser.parse_args()
    tallies = []
    for fault in options.fault or FAULTS:
        summaries = []
        for seed in range(options.runs):
            summaries.append(run_demo(fault, seed, options.steps, options.bus))
            sys.stderr.write(f"{fault} {seed + 1}/{options.runs}: {json.dumps(summaries[-1])}\n")
        tallies.append(tally(fault, summaries))
    machine = {
        "processors": platform.processor() or platform.machine(),
        "system": platform.release(),
    }
    broken = broken_bars(tallies)
    report = {
        "tallies": [asdict(one) for one in tallies],
        "localised_mean": overall_mean(tallies),
        "broken": broken,
        "steps": options.steps,
        **machine,
    }
    sys.stdout.write(json.dumps(report) + "\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
