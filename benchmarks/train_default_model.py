"""Makes the model that ships with Paramedic, from training episodes of the synthetic cluster.

    python benchmarks/train_default_model.py                       # replaces the one that ships
    python benchmarks/train_default_model.py --out /tmp/m --episodes 4 --hours 1   # a trial

The same seed and sizes give the same tensors. Episodes are lived one at a time, faulty ones among
them: nobody sorts a cluster's past either. One JSON object on standard output, progress on standard
error.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import overload

from paramedic.ingest.contract import format_time
from paramedic.ingest.synthetic.episodes.drawing import draw_fault_episodes, draw_healthy_episodes
from paramedic.ingest.synthetic.episodes.living import live
from paramedic.ingest.synthetic.episodes.plan import EpisodePlan, Split
from paramedic.models.default.shipped import FOLDER
from paramedic.models.history import JobHistory
from paramedic.models.registry.manifest import Manifest, TrainedOn
from paramedic.models.registry.model_folder import save
from paramedic.models.registry.provenance import manifest_of_training, trained_on
from paramedic.models.training.fit_settings import FitSettings
from paramedic.models.training.fitting import fit

NAME = "default"


class Lived(Sequence[JobHistory]):
    """Histories that exist only while they are looked at."""

    def __init__(self, plans: Sequence[EpisodePlan]) -> None:
        self._plans = plans
        self.seen: dict[str, TrainedOn] = {}

    def __len__(self) -> int:
        return len(self._plans)

    @overload
    def __getitem__(self, at: int) -> JobHistory: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[JobHistory]: ...
    def __getitem__(self, at: int | slice) -> JobHistory | Sequence[JobHistory]:
        """Live one; a part of all is not lived before it is asked for."""
        if isinstance(at, slice):
            return Lived(self._plans[at])
        plan = self._plans[at]
        lived = live(plan)
        history = JobHistory(plan.cluster.job, lived.windows, lived.description, lived.events)
        if plan.name not in self.seen:
            self.seen[plan.name] = trained_on(plan.name, history)
        return history


def main() -> int:
    """Train, and put the model in its place."""
    arguments = parsed()
    warnings.simplefilter("ignore")
    histories = Lived(
        (
            *draw_fault_episodes(Split.TRAIN, arguments.episodes, arguments.seed),
            *draw_healthy_episodes(Split.TRAIN, arguments.hours, arguments.seed),
        )
    )
    artifact = fit(histories, FitSettings(seed=arguments.seed), tell)
    now = format_time(datetime.now(UTC).replace(microsecond=0))
    manifest = replace(
        manifest_of_training(NAME, now, ()), trained_on=tuple(histories.seen.values())
    )
    draft = arguments.out.with_name(f"{arguments.out.name}.new")
    kept = save(draft, artifact, manifest)
    shutil.rmtree(arguments.out, ignore_errors=True)
    draft.rename(arguments.out)
    sys.stdout.write(json.dumps(told(arguments.out, kept)) + "\n")
    return 0


def parsed() -> argparse.Namespace:
    """What was typed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=FOLDER)
    parser.add_argument("--episodes", type=int, default=16, help="with faults")
    parser.add_argument("--hours", type=int, default=24, help="of healthy jobs")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def tell(stage: str, share: float) -> None:
    """Say how far it is."""
    sys.stderr.write(f"{stage}: {100 * share:.0f} %\n")


def told(folder: Path, manifest: Manifest) -> dict[str, object]:
    """What was made."""
    return {
        "model": str(folder),
        "tensors_sha256": manifest.tensors_sha256,
        "bytes": sum(file.stat().st_size for file in folder.iterdir()),
        "metrics": len(manifest.metrics),
        "episodes": len(manifest.trained_on),
        "trained_seconds": sum(one.seconds for one in manifest.trained_on),
        "scores": dict(manifest.scores),
    }


if __name__ == "__main__":
    sys.exit(main())
