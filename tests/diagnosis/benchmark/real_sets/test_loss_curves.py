"""Logs of trainings: read as they are, healthy ones silent, a spike told once."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from paramedic.diagnosis.benchmark.real_sets import loss_curves
from paramedic.diagnosis.benchmark.real_sets.errors import RealSetAbsentError, RealSetFormatError
from paramedic.diagnosis.benchmark.real_sets.loss_reading import (
    CurveStep,
    read_megatron,
    read_nanogpt,
)

RUN = "tr11-176B-ml"


def megatron_line(step: int, loss: float, norm: float, run: str = RUN) -> str:
    return (
        f"{run}\t[default7]: iteration {step:8}/  115311 | learning rate: 5.279E-05 |"
        f" lm loss: {loss:.6E} | grad norm: {norm:.3f} | number of nan iterations:   0 |"
    )


def write(folder: Path, spike: bool, healthy: bool = True) -> Path:
    nanogpt, bloom = folder / "nanogpt_loss_curves", folder / "bloom"
    nanogpt.mkdir()
    bloom.mkdir()
    for name in ("adamw", "llmc_main"):
        losses = [4.0 + (0 if healthy or step < 40 else 4) for step in range(60)]
        lines = [f"s:{step} trl:{loss}" for step, loss in enumerate(losses)]
        (nanogpt / f"{name}.log").write_text("s:0 tel:10.9\n" + "\n".join(lines))
    lines = [
        megatron_line(step, 2.2 + (spike and step > 31_230), 0.2)
        for step in range(31_214, 31_252)
    ]  # fmt: skip
    (bloom / "megatron_iteration_lines.tsv").write_text("\n".join(lines))
    return folder


@pytest.mark.parametrize("is_as_promised", [True, False])
def test_the_promises_hold_or_do_not(tmp_path: Path, is_as_promised: bool) -> None:
    folder = write(tmp_path, spike=is_as_promised, healthy=is_as_promised)
    healthy, spike = loss_curves.evaluate_healthy(folder), loss_curves.evaluate_spike(folder)
    assert (healthy.holds, spike.holds) == (is_as_promised, is_as_promised)
    assert healthy.figures["adamw_alarms"] == (0 if is_as_promised else 1)
    assert spike.figures["alarms"] == (1 if is_as_promised else 0)


def test_lines_are_read_with_what_they_tell(tmp_path: Path) -> None:
    (tmp_path / "one.log").write_text(
        "s:0 tel:11.0\ns:0 trl:11.5 lr:0.000001 norm:15.37\ns:1 trl:nan\nnoise\n"
    )
    first, second = read_nanogpt(tmp_path, "one")
    assert first == CurveStep(0, 11.5, 15.37, 1e-6)
    assert (second.step, math.isnan(second.loss)) == (1, True)


def test_cut_lines_and_other_runs_are_left_out(tmp_path: Path) -> None:
    lines = [megatron_line(7, 2.5, 0.25), megatron_line(8, 2.4, 0.2)[:60]]
    lines.append(megatron_line(9, 9.0, 9.0, run="tr8-104B-wide"))
    path = tmp_path / "lines.tsv"
    path.write_text("\n".join(lines))
    assert read_megatron(path, RUN) == (CurveStep(7, 2.5, 0.25, 5.279e-05),)


def test_what_is_no_log_is_told(tmp_path: Path) -> None:
    with pytest.raises(RealSetAbsentError, match="nowhere"):
        read_nanogpt(tmp_path, "nowhere")
    (tmp_path / "empty.log").write_text("nothing of a training")
    with pytest.raises(RealSetFormatError, match="no line of a training step"):
        read_nanogpt(tmp_path, "empty")
    (tmp_path / "binary.tsv").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(RealSetFormatError, match="cannot be read"):
        read_megatron(tmp_path / "binary.tsv", RUN)
