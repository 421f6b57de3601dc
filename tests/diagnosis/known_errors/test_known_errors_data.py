"""What ships about known errors."""

from __future__ import annotations

import pytest

from paramedic.diagnosis.contract import Fault, Phase, RecommendedAction, Severity
from paramedic.diagnosis.known_errors.entry import Cause, Concern, Kind, KnownError
from paramedic.diagnosis.known_errors.reading import shipped_known_errors

MACHINES_FAULTS = frozenset(list(Fault)[: list(Fault).index(Fault.UNKNOWN) + 1])
ENTRIES = tuple(shipped_known_errors().entries.values())


def entry(kind: Kind, code: int) -> KnownError:
    known = shipped_known_errors().find(kind, code)
    assert known is not None
    return known


def test_every_code_of_the_catalogue_up_to_172_with_a_meaning_is_known() -> None:
    codes = {int(one.key) for one in ENTRIES if one.kind is Kind.XID}
    assert {8, 13, 31, 43, 45, 48, 63, 64, 74, 79, 92, 94, 95, 119, 120, 140, 143, 154} <= codes
    assert set(range(119, 173)) <= codes | {138, 139}
    assert max(codes) == 172


@pytest.mark.parametrize("code", [37, 43, 45, 63, 92, 137, 154, 171, 172])
def test_harmless_codes_never_act(code: int) -> None:
    assert entry(Kind.XID, code).severity is None
    assert entry(Kind.XID, code).action is RecommendedAction.NONE


@pytest.mark.parametrize("code", [13, 31, 69, 11, 39, 94])
def test_codes_that_end_a_program_never_raise_more_than_a_p2(code: int) -> None:
    assert entry(Kind.XID, code).severity is Severity.P2
    assert entry(Kind.XID, code).action is RecommendedAction.RESTART_PROCESS


@pytest.mark.parametrize(
    ("code", "fault", "action"),
    [
        (48, Fault.ECC_ERROR, RecommendedAction.RESET_GPU),
        (64, Fault.ECC_ERROR, RecommendedAction.RESET_GPU),
        (74, Fault.NVLINK_ERROR, RecommendedAction.RESET_GPU),
        (79, Fault.GPU_CARD_DROP, RecommendedAction.REBOOT_NODE),
        (95, Fault.ECC_ERROR, RecommendedAction.RESET_GPU),
        (119, Fault.GPU_EXECUTION_ERROR, RecommendedAction.RESET_GPU),
        (143, Fault.GPU_EXECUTION_ERROR, RecommendedAction.RESET_GPU),
    ],
)
def test_grave_codes_have_nvidias_action(
    code: int, fault: Fault, action: RecommendedAction
) -> None:
    known = entry(Kind.XID, code)
    assert (known.fault, known.action, known.severity) == (fault, action, Severity.P1)


@pytest.mark.parametrize(("word", "severity"), [("fatal", Severity.P1), ("nonfatal", None)])
def test_an_error_of_blackwells_nvlink_counts_when_its_line_calls_it_fatal(
    word: str, severity: Severity | None
) -> None:
    assert entry(Kind.XID, 145).severity_for(word) is severity
    assert entry(Kind.XID, 145).severity_for(None) is None


def test_switches_have_three_classes_of_errors() -> None:
    assert entry(Kind.SXID, 11012).severity is None
    assert entry(Kind.SXID, 20034).action is RecommendedAction.RESET_GPU
    assert entry(Kind.SXID, 23010).action is RecommendedAction.REBOOT_NODE
    assert all(one.concerns is Concern.NODE for one in ENTRIES if one.kind is Kind.SXID)


def test_nothing_that_ships_calls_a_job_lost_or_names_a_jobs_fault() -> None:
    assert [one.key for one in ENTRIES if one.severity is Severity.P0] == []
    assert {one.fault for one in ENTRIES} <= MACHINES_FAULTS


def test_only_hardware_and_drivers_can_be_a_p1() -> None:
    grave = [one for one in ENTRIES if one.severity is Severity.P1 or one.phase is Phase.FAILED]
    assert {one.cause for one in grave} == {Cause.HARDWARE, Cause.DRIVER}


def test_every_entry_says_where_it_is_from_and_ends_its_meaning() -> None:
    sources = {one.source for one in ENTRIES}
    assert sources == {"xid-catalogue", "fabric-manager", "dcgm", "amd"}
    assert [one.key for one in ENTRIES if not one.meaning.endswith(".")] == []
