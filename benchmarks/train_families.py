"""Fits how fault families are named, and measures how well they are.

    python benchmarks/train_families.py                # writes coefficients.json, then measures
    python benchmarks/train_families.py --episodes 60 --test-episodes 30 --out c.json  # a trial
    python benchmarks/train_families.py --recordings DIR --page benchmarks/results/fault-families.md
                       # only measures, also on recordings that have a truth.json, and writes a page

Learned from: signatures of training episodes of the synthetic cluster, and draws from families.toml
itself, which is what keeps the fit near what is known. Everything follows from the seed. Measured
on the test split, which nothing is chosen by. One JSON object on standard output.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.families.cases import is_found, recorded_cases, synthetic_cases
from benchmarks.families.fitting import fitted_to
from benchmarks.families.scores import Results, Score, measured_well, page

from paramedic.diagnosis.family.coefficients import SHIPPED, Coefficients, read_coefficients
from paramedic.diagnosis.family.knowledge import Knowledge
from paramedic.diagnosis.family.naming import FamilyNamer
from paramedic.diagnosis.family.reading import shipped_knowledge
from paramedic.ingest.synthetic.episodes.plan import Split

SEED = 11
TEST_SEED = 5
OTHER = "Another simulator, with physics that nothing was learned from"


def trained(episodes: int, seed: int, knowledge: Knowledge) -> Coefficients:
    """Fitted to so many training episodes."""
    cases = [
        case
        for case in synthetic_cases(Split.TRAIN, episodes, seed)
        if not case.has_ended and is_found(case, knowledge)
    ]
    return fitted_to(cases, knowledge, seed)


def main() -> int:
    """Train where nothing else is asked for, measure, and write both."""
    arguments = parsed()
    knowledge = shipped_knowledge()
    if arguments.recordings is None:
        coefficients = trained(arguments.episodes, arguments.seed, knowledge)
        arguments.out.write_text(coefficients.to_json(), encoding="utf-8")
    text = arguments.out.read_text(encoding="utf-8")
    namer = FamilyNamer(knowledge, read_coefficients(text, arguments.out.name, knowledge))
    results = {}
    if arguments.test_episodes:
        test = list(synthetic_cases(Split.TEST, arguments.test_episodes, TEST_SEED))
        results["The synthetic cluster, test split"] = measured_well(test, namer, knowledge)
    if arguments.recordings is not None:
        recorded = list(recorded_cases(arguments.recordings))
        results[OTHER] = measured_well(recorded, namer, knowledge)
    if arguments.page is not None:
        arguments.page.write_text(page(results, knowledge, arguments.seed), encoding="utf-8")
    told = {name: _plain(result) for name, result in results.items()}
    sys.stdout.write(json.dumps(told) + "\n")
    return 0


def _plain(result: Results) -> dict[str, Any]:
    return {key: asdict(one) if isinstance(one, Score) else one for key, one in result.items()}


def parsed() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--out", type=Path, default=SHIPPED, help="the coefficients' file")
    parser.add_argument("--episodes", type=int, default=700, help="training episodes drawn")
    parser.add_argument("--test-episodes", type=int, default=300, help="0: none")
    parser.add_argument("--recordings", type=Path, help="only measure, on these with truths too")
    parser.add_argument("--page", type=Path, help="write the results as Markdown")
    parser.add_argument("--seed", type=int, default=SEED)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
