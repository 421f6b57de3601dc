"""How grave an accusation is."""

from __future__ import annotations

import math

import pytest

from paramedic.diagnosis.contract import Fault, Severity
from paramedic.diagnosis.family.severity import Impact, severity_of


@pytest.mark.parametrize(
    ("fault", "impact", "severity"),
    [
        (Fault.ECC_ERROR, Impact(), Severity.P1),
        (Fault.ECC_ERROR, Impact(nodes_accused=2), Severity.P0),
        (Fault.STRAGGLER, Impact(throughput_ratio=0.49), Severity.P0),
        (Fault.STRAGGLER, Impact(throughput_ratio=0.50), Severity.P1),
        (Fault.HANG, Impact(throughput_ratio=0.0), Severity.P0),
        (Fault.UNKNOWN, Impact(throughput_ratio=0.99), Severity.P2),
        (Fault.UNKNOWN, Impact(throughput_ratio=0.80), Severity.P1),
        (Fault.UNKNOWN, Impact(throughput_ratio=math.nan), Severity.P1),
        (Fault.ECC_ERROR, Impact(throughput_ratio=0.99), Severity.P1),
        (Fault.CUDA_EXECUTION_ERROR, Impact(is_trend=True), Severity.P2),
        (Fault.CUDA_EXECUTION_ERROR, Impact(2, 0.99, is_trend=True), Severity.P2),
        (Fault.CUDA_EXECUTION_ERROR, Impact(1, 0.9, is_trend=True), Severity.P1),
        (Fault.CUDA_EXECUTION_ERROR, Impact(1, 0.3, is_trend=True), Severity.P0),
    ],
)
def test_severity_follows_from_what_the_job_loses(
    fault: Fault, impact: Impact, severity: Severity
) -> None:
    assert severity_of(fault, impact) is severity


def test_the_drop_that_is_too_much_is_a_setting() -> None:
    impact = Impact(throughput_ratio=0.6)
    assert severity_of(Fault.STRAGGLER, impact, throughput_floor=0.7) is Severity.P0
