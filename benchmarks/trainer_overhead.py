"""What the trainer library costs a training that nobody disturbs.

    python benchmarks/trainer_overhead.py --pairs 5 --steps 80

Runs `examples/train_plain.py` under torchrun and `examples/train.py` under the local launcher by
turns, each on the same number of processes, and compares the two of each pair. The launcher runs
alone: no diagnosis and no remediation, which would take processor time of their own here.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from types import ModuleType

from paramedic.ingest.contract import JobName
from paramedic.remediation.launchers.local.commands import MembershipRules
from paramedic.remediation.launchers.local.job_config import LocalJobConfig
from paramedic.remediation.launchers.local.local_job import LocalJob

EXAMPLES = Path(__file__).parents[1] / "examples"
WARM_UP_STEPS = 10
RUN_TIMEOUT_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Run:
    """One run, as its ranks measured it."""

    steps_per_second: float
    processor_seconds_per_step: float
    """Of all threads of one rank; on a shared machine steadier than the time on the clock."""


def measure(script: Path, steps: int, folder: Path) -> None:
    """In a rank: train with the script as it is, and write down when its steps were."""
    module = load(script)
    stamps: list[tuple[float, float]] = []

    def stamp(*_arguments: object) -> None:
        if "PARAMEDIC_REHEARSING" not in os.environ:
            stamps.append((time.perf_counter(), time.process_time()))

    vars(module)["record_loss"] = stamp
    sys.argv = [str(script), "--steps", str(steps)]
    module.main()
    kept = stamps[WARM_UP_STEPS:]
    durations = [later[0] - earlier[0] for earlier, later in itertools.pairwise(kept)]
    used_seconds = (kept[-1][1] - kept[0][1]) / len(durations)
    text = json.dumps({"step_seconds": median(durations), "processor_seconds": used_seconds})
    (folder / f"{os.getpid()}.json").write_text(text)


def load(script: Path) -> ModuleType:
    """The example as a module."""
    spec = importlib.util.spec_from_file_location(script.stem, script)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(f"{script} cannot be loaded: run this from a clone")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_plain(ranks: int, steps: int, folder: Path) -> None:
    """Under torchrun, without the library."""
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    worker = [__file__, "--measure", "train_plain.py", "--into", str(folder)]
    subprocess.run(
        [*torchrun, "--nproc-per-node", str(ranks), *worker, "--steps", str(steps)],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        timeout=RUN_TIMEOUT_SECONDS,
        check=True,
    )


def run_supervised(ranks: int, steps: int, folder: Path) -> None:
    """Under the local launcher, with the library."""
    worker = (sys.executable, __file__, "--measure", "train.py", "--into", str(folder))
    with tempfile.TemporaryDirectory(prefix="pm-") as sockets:
        config = LocalJobConfig(
            job=JobName("overhead"),
            command=(*worker, "--steps", str(steps)),
            rules=MembershipRules(ranks=ranks, spares=0),
            run_folder=folder / "run",
            control_socket=Path(sockets) / "control.sock",
            telemetry_socket=Path(sockets) / "telemetry.sock",
            base_environment=os.environ | {"OMP_NUM_THREADS": "1"},
        )
        result = LocalJob(config, lambda _event: None).run()
    if result.exit_code != 0:
        raise RuntimeError(f"the supervised run failed: {result.reason}, {result.last_line}")


def read(folder: Path) -> Run:
    """The mean over the ranks of a run."""
    ranks = [json.loads(path.read_text()) for path in folder.glob("*.json")]
    return Run(
        steps_per_second=len(ranks) / sum(one["step_seconds"] for one in ranks),
        processor_seconds_per_step=sum(one["processor_seconds"] for one in ranks) / len(ranks),
    )


def compare(pairs: int, ranks: int, steps: int) -> dict[str, object]:
    """Both by turns, so that what else the machine does meets both."""
    plain: list[Run] = []
    supervised: list[Run] = []
    for pair in range(pairs):
        for start, runs in ((run_plain, plain), (run_supervised, supervised)):
            with tempfile.TemporaryDirectory(prefix="paramedic-overhead-") as folder:
                start(ranks, steps, Path(folder))
                runs.append(read(Path(folder)))
        sys.stderr.write(f"pair {pair + 1} of {pairs}: {plain[-1]}, {supervised[-1]}\n")
    return summary(plain, supervised)


def summary(plain: list[Run], supervised: list[Run]) -> dict[str, object]:
    """Medians of the pairs' ratios: what the machine did meanwhile met both runs of a pair."""
    pairs = list(zip(plain, supervised, strict=True))
    speed = [ours.steps_per_second / theirs.steps_per_second for theirs, ours in pairs]
    used = [
        ours.processor_seconds_per_step / theirs.processor_seconds_per_step
        for theirs, ours in pairs
    ]
    return {
        "steps_per_second_ratio": round(median(speed), 3),
        "steps_per_second_ratios": [round(ratio, 3) for ratio in sorted(speed)],
        "processor_seconds_ratio": round(median(used), 3),
        "processor_seconds_ratios": [round(ratio, 3) for ratio in sorted(used)],
        "machine": f"{os.cpu_count()} cores, {platform.machine()}",
    }


def main() -> None:
    """Compare; or, in a rank, measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--steps", type=int, default=80)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure is not None:
        measure(EXAMPLES / arguments.measure, arguments.steps, arguments.into)
    else:
        result = compare(arguments.pairs, arguments.ranks, arguments.steps)
        sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
