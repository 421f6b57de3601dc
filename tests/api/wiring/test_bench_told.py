"""`paramedic bench` on results that are kept: nothing is run again, and all is told once."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from paramedic.api.command_line.dispatch import dispatch
from paramedic.api.command_line.surroundings import Surroundings
from paramedic.diagnosis.benchmark.episodes import Facts, Fault, Part
from paramedic.diagnosis.benchmark.ledger import ResultsLedger
from paramedic.diagnosis.benchmark.provenance import makers_of
from paramedic.diagnosis.benchmark.results import Result
from paramedic.diagnosis.benchmark.roster import detectors_named
from paramedic.diagnosis.benchmark.sizes import QUICK
from paramedic.diagnosis.benchmark.synthetic_source import SyntheticSource
from paramedic.ingest.contract import JobName, NodeName
from paramedic.models.detection import Alarm

pytestmark = pytest.mark.long  # imports what the detectors need: torch, scikit-learn

BROKEN, HEALTHY = NodeName("node-1"), NodeName("node-2")
OUT = Path("bench", "detection-quick-0")
NAMES = "robust_z_cusum,random"


@dataclass(frozen=True, slots=True)
class Told:
    """What a call gave back."""

    code: int
    output: str
    errors: str


def bench(folder: Path, *arguments: str, **environment: str) -> Told:
    out, err = io.StringIO(), io.StringIO()
    around = Surroundings(folder, environment, out, err)
    code = dispatch(["bench", "detection", "--detectors", NAMES, *arguments], around)
    return Told(code, out.getvalue(), err.getvalue())


def keep(folder: Path, missed: int, version: str = "") -> None:
    """Results of a whole quick run: `robust_z_cusum` misses every so many-th fault.

    `version`: of all detectors; theirs of today, if it is empty.
    """
    source = SyntheticSource(QUICK, 0)
    detectors = detectors_named(NAMES.split(","), is_quick=True)
    makers = {name: version or maker for name, maker in makers_of(detectors).items()}
    ledger = ResultsLedger(folder / OUT, source.drawn(), makers)
    for part in (Part.VALIDATION, Part.TEST):
        for at, drawn in enumerate(source.draw(part)):
            faults = () if "healthy" in drawn.name else (Fault("hang", (BROKEN,), 1050),)
            known = Facts(drawn.name, JobName(drawn.name), part, 4, 1000, 1000, faults=faults)
            right, wrong = Alarm(1060, (BROKEN,), 1.0), Alarm(1060, (HEALTHY,), 1.0)
            said = (right,) if faults and at % missed else ()
            ledger.add(known, [
                Result(drawn.name, "robust_z_cusum", {1.0: said}, 0.1),
                Result(drawn.name, "random", {1.0: (wrong,)}, 0.1),
            ])  # fmt: skip


def test_json_is_alone_on_standard_output_and_is_what_is_kept(tmp_path: Path) -> None:
    keep(tmp_path, missed=2)
    told = bench(tmp_path, "--format", "json")
    report = json.loads(told.output)
    assert told.output.count("\n") == 1
    assert json.loads((tmp_path / OUT / "report.json").read_text()) == report
    assert [row["detector"] for row in report["rows"]] == ["robust_z_cusum", "random"]
    assert report["settings"]["command"] == (
        f"paramedic bench detection --quick --seed 0 --detectors {NAMES}"
    )
    assert set(report["settings"]["thresholds_tried"]) == set(NAMES.split(","))
    assert "training" not in told.errors


def test_the_table_is_on_standard_error_and_is_what_is_kept(tmp_path: Path) -> None:
    keep(tmp_path, missed=2)
    told = bench(tmp_path)
    assert told.output == ""
    assert (tmp_path / OUT / "report.txt").read_text() in told.errors
    assert told.errors.endswith(f"results are in {tmp_path / OUT}\n")


def test_episodes_that_are_too_easy_end_with_one_and_the_line_says_so(tmp_path: Path) -> None:
    keep(tmp_path, missed=100)
    told = bench(tmp_path)
    assert told.code == 1
    assert "the episodes are too easy: robust_z_cusum: F1 " in told.errors


def test_hard_enough_episodes_end_with_zero_and_no_complaint(tmp_path: Path) -> None:
    keep(tmp_path, missed=1)
    told = bench(tmp_path)
    assert (told.code, "too easy" in told.errors) == (0, False)
    assert json.loads((tmp_path / OUT / "report.json").read_text())["holds"] is True


def test_who_is_examined_again_because_of_other_code_is_told(tmp_path: Path) -> None:
    keep(tmp_path, missed=1, version="older")
    told = bench(tmp_path, "--reference-data", "nowhere")  # which ends it there
    assert (
        "made again, for another version made what is kept: random, robust_z_cusum" in told.errors
    )
    keep(tmp_path, missed=1)
    assert "made again" not in bench(tmp_path).errors


def test_reference_data_that_is_no_folder_is_one_line_before_anything_is_run(
    tmp_path: Path,
) -> None:
    told = bench(tmp_path, PARAMEDIC_REFERENCE_DATA="nowhere")
    assert told.code == 2
    assert f"{tmp_path / 'nowhere'} is no folder" in told.errors
    assert "training" not in told.errors


def test_the_flag_names_reference_data_before_the_variable_and_absent_sets_are_told(
    tmp_path: Path,
) -> None:
    keep(tmp_path, missed=1)
    (tmp_path / "theirs").mkdir()
    told = bench(tmp_path, "--reference-data", "theirs", PARAMEDIC_REFERENCE_DATA="nowhere")
    assert told.code == 0
    for name in ("asd", "straggler_traces", "flight_recorder"):
        assert f"{name}: {tmp_path / 'theirs'}" in told.errors


def test_a_broken_real_set_is_one_line_with_its_file_before_anything_is_run(
    tmp_path: Path,
) -> None:
    for name in ("asd_dev.npz", "asd_dev_segments.csv"):
        (tmp_path / name).write_bytes(b"")
    told = bench(tmp_path, "--reference-data", ".")
    assert told.code == 2
    assert "asd_dev.npz: ASD cannot be read" in told.errors
    assert "training" not in told.errors


def test_another_seed_has_a_folder_of_its_own_and_does_not_fit_in_this_one(tmp_path: Path) -> None:
    keep(tmp_path, missed=1)
    told = bench(tmp_path, "--seed", "1", "--out", str(OUT))
    assert told.code == 2
    assert "holds the results of another run" in told.errors
    assert not (tmp_path / OUT / "report.json").exists()
