"""Kernel logs of every make, read to facts: Xids, SXids, NVLink, recovery actions, stamps."""

from __future__ import annotations

import json
import os
from collections import Counter
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.ingest.contract import EventKind, NodeName
from paramedic.ingest.sources.kernel.kernel_log import facts_of_lines
from paramedic.ingest.sources.kernel.messages import nvml_pci_bus_id
from paramedic.ingest.sources.kernel.stamps import Era, written_at
from paramedic.ingest.sources.port import NodeFact

NODE = NodeName("node-1")
BOOT = datetime(2025, 2, 20, tzinfo=UTC).timestamp()
NOW = datetime(2025, 3, 1, tzinfo=UTC).timestamp()
ERA = Era(NOW, BOOT)
MOMENT = datetime(2025, 2, 23, 16, 24, 18, tzinfo=UTC).timestamp()
XID = "NVRM: Xid (PCI:0000:9b:00): 79, pid=1234, name=python3, GPU has fallen off the bus."
REFERENCE = os.environ.get("PARAMEDIC_REFERENCE_DATA")


def only(*lines: str, era: Era = ERA) -> NodeFact:
    (fact,) = facts_of_lines(lines, NODE, era)
    return fact


def test_an_xid_names_its_gpu_process_and_message() -> None:
    fact = only(XID)
    assert (fact.kind, fact.node, fact.timestamp_seconds) == (EventKind.XID, NODE, NOW)
    assert fact.details == {
        "xid": 79,
        "pci_bus_id": "00000000:9B:00.0",
        "pid": 1234,
        "process": "python3",
        "message": "GPU has fallen off the bus.",
    }


@pytest.mark.parametrize(
    ("text", "details"),
    [
        ("31, pid=123", {"xid": 31, "pid": 123, "message": ""}),
        ("31, pid=XXX", {"xid": 31, "message": ""}),
        ("79, pid='<unknown>', name=<unknown>, GPU lost", {"xid": 79, "message": "GPU lost"}),
        ("145, pid=9, name=ray::WorkerDict, x", {"process": "ray::WorkerDict", "message": "x"}),
        ("63, Row remapping event: a, b", {"message": "Row remapping event: a, b"}),
        ("43", {"xid": 43, "message": ""}),
        ("99999, unknown error", {"xid": 99999}),
    ],
)
def test_what_an_xid_leaves_out_is_left_out(text: str, details: dict[str, object]) -> None:
    found = only(f"NVRM: Xid (PCI:0000:01:00): {text}").details
    assert {key: found.get(key) for key in details} == details
    assert None not in found.values()


@pytest.mark.parametrize(
    ("place", "details"),
    [
        ("0000:01:00", {"pci_bus_id": "00000000:01:00.0"}),
        ("PCI:0008:06:00.0", {"pci_bus_id": "00000008:06:00.0"}),
        ("PCI:0000:01:00 GPU-I:05", {"pci_bus_id": "00000000:01:00.0", "gpu_instance": 5}),
    ],
)
def test_the_place_is_read_in_all_its_forms(place: str, details: dict[str, object]) -> None:
    found = only(f"NVRM: Xid ({place}): 94, Contained").details
    assert {key: found[key] for key in details} == details


def test_a_gpu_is_named_by_its_uuid_once_the_driver_has_told_it() -> None:
    told = "NVRM: GPU at PCI:0000:9b:00: GPU-509665ad-b600-ac93-3616-d754b23d636d"
    assert only(told, XID).details["uuid"] == "GPU-509665ad-b600-ac93-3616-d754b23d636d"
    assert "uuid" not in only(told, XID.replace("9b", "9c")).details


@pytest.mark.parametrize(
    ("text", "unit", "severity", "link"),
    [
        ("NETIR_LINK_EVT  Fatal   XC0 i0 Link 14 (0x0215c5c6 0x0)", "NETIR_LINK_EVT", "fatal", 14),
        ("NETIR Fatal XC0 i0 Link -1 (0x000fe406", "NETIR", "fatal", -1),
        ("TLW_RX/TLW_RX_PIPE0 Nonfatal XC0 i0 Link 00 (0x1)", "TLW_RX/TLW_RX_PIPE0", "nonfatal", 0),
        ("RLW_REMAP Link Fatal XC1 i0 Link 03 (0x1)", "RLW_REMAP", "link_fatal", 3),
    ],
)
def test_nvlink5_errors_are_taken_apart(text: str, unit: str, severity: str, link: int) -> None:
    found = only(f"NVRM: Xid (PCI:0008:01:00): 149, {text}").details
    assert (found["unit"], found["severity"], found["link"]) == (unit, severity, link)
    assert str(found["registers"]).startswith("0x")


def test_the_recovery_action_is_the_one_it_changes_to() -> None:
    line = (
        "NVRM: Xid (PCI:0008:01:00): 154, GPU recovery action changed from 0x0 (None) to 0x2"
        " (Node Reboot Required)"
    )
    found = only(line).details
    assert (found["recovery_action"], found["recovery_text"]) == (2, "Node Reboot Required")


def test_a_switch_error_is_one_fact_however_many_lines_tell_of_it() -> None:
    begin = "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 28006, "
    fact = only(
        f"{begin}Non-fatal, Link 46 MC TS crumbstore MCTO (First)",
        f"{begin}Severity 0 Engine instance 46 Sub-engine instance 00",
        f"{begin}Data {{0x00000001, 0x00000001}}",
    )
    assert fact.kind is EventKind.SXID
    assert fact.details == {
        "sxid": 28006,
        "pci_bus_id": "00000000:C1:00.0",
        "switch": 3,
        "severity": "nonfatal",
        "link": 46,
        "message": "MC TS crumbstore MCTO (First)",
    }


def test_a_fatal_switch_error_without_link_is_read() -> None:
    found = only("nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 22003, Fatal, Minion halted").details
    assert (found["severity"], found["message"], "link" in found) == (
        "fatal",
        "Minion halted",
        False,
    )


@pytest.mark.parametrize(
    ("stamp", "seconds"),
    [
        ("[  318258.250000] ", BOOT + 318258.25),
        ("[    12.5][ T1234] ", BOOT + 12.5),
        ("<3>[    12.5] ", BOOT + 12.5),
        ("kern  :err   : [    12.5] ", BOOT + 12.5),
        ("3,3964,318258250000,-;", BOOT + 318258.25),
        ("[Sun Feb 23 16:24:18 2025] ", MOMENT),
        ("kern  :warn  : [Sun Feb 23 16:24:18 2025] ", MOMENT),
        ("2025-02-23T16:24:18,500000+00:00 ", MOMENT + 0.5),
        ("kern  :err   : 2025-02-23T18:24:18,500000+02:00 ", MOMENT + 0.5),
        ("Feb 23 16:24:18 node-1 kernel: ", MOMENT),
        ("Feb 23 16:24:18.250000 node-1 kernel: [ 12.5] ", MOMENT),
        ("2025-02-23T16:24:18+0000 node-1 kernel: ", MOMENT),
        ("2025-02-23T16:24:18.5+00:00 node-1 kernel: ", MOMENT + 0.5),
        ("Sun 2025-02-23 16:24:18 UTC node-1 kernel: ", MOMENT),
        (f"{MOMENT:.6f} node-1 kernel: ", MOMENT),
        ("[Feb 23 2025 16:24:18] [ERROR] [tid 1803] ", MOMENT),
        ("", NOW),
        ("[Sun Feb 99 16:24:18 2025] ", NOW),
    ],
)
def test_every_stamp_is_read(stamp: str, seconds: float) -> None:
    assert only(stamp + XID).timestamp_seconds == pytest.approx(seconds, abs=1e-3)


def test_stamps_without_zone_are_local_time() -> None:
    local = Era(NOW, BOOT, timezone(timedelta(hours=-7)))
    assert written_at("[Sun Feb 23 09:24:18 2025] x", local) == MOMENT
    assert written_at("Feb 23 09:24:18 node-1 kernel: x", local) == MOMENT
    assert written_at("2025-02-23T16:24:18+0000 node-1 kernel: x", local) == MOMENT


def test_a_stamp_without_year_never_lies_in_the_future() -> None:
    january = Era(datetime(2026, 1, 2, tzinfo=UTC).timestamp())
    found = written_at("Dec 31 23:59:59 node-1 kernel: x", january)
    assert datetime.fromtimestamp(found, UTC).year == 2025
    leap = written_at("Feb 29 00:00:00 node-1 kernel: x", january)
    assert datetime.fromtimestamp(leap, UTC).year == 2024


def test_stamps_since_boot_are_now_where_the_boot_is_not_known() -> None:
    assert only(f"[ 12.5] {XID}", era=Era(NOW)).timestamp_seconds == NOW


@pytest.mark.parametrize("as_bytes", [False, True])
def test_a_journals_json_is_read(as_bytes: bool) -> None:
    message = list(XID.encode()) if as_bytes else XID
    entry = {"__REALTIME_TIMESTAMP": str(int(MOMENT * 1e6)), "MESSAGE": message}
    fact = only(json.dumps(entry))
    assert (fact.timestamp_seconds, fact.details["xid"]) == (MOMENT, 79)


@pytest.mark.parametrize("line", ["{", "{}", '{"MESSAGE": null}', '{"MESSAGE": [999]}', "{" * 9000])
def test_a_journal_line_that_is_none_costs_nothing(line: str) -> None:
    assert facts_of_lines([line], NODE, ERA) == []


def test_other_signs_of_trouble_are_told_by_name() -> None:
    fact = only("x[25]: segfault at 7f ip 7f sp 7f error 4 in libnccl.so.2[7f+d3]")
    assert (fact.kind, fact.details["sign"]) == (EventKind.KERNEL_LOG, "nccl_segfault")
    lost = only("NVRM: GPU 0000:9b:00.0: GPU has fallen off the bus.")
    assert lost.details["sign"] == "gpu_fell_off_bus"


@given(st.text(max_size=60), st.sampled_from(["", "NVRM: Xid (", "SXid ", "{", "[12.5] NVRM: Xid"]))
def test_no_line_breaks_the_reader(text: str, beginning: str) -> None:
    for fact in facts_of_lines([beginning + text, text + XID], NODE, ERA):
        assert fact.node == NODE


@given(st.integers(0, 0xFFFF), st.integers(0, 0xFF), st.integers(0, 0x1F), st.integers(1, 200))
def test_an_xid_survives_being_written_and_read(
    domain: int, bus: int, device: int, code: int
) -> None:
    place = f"{domain:04x}:{bus:02x}:{device:02x}"
    found = only(f"[ 1.0] NVRM: Xid (PCI:{place}): {code}, pid=7, name=a b, text, more").details
    assert found["pci_bus_id"] == nvml_pci_bus_id(place)
    assert (found["xid"], found["process"], found["message"]) == (code, "a b", "text, more")


@pytest.mark.skipif(REFERENCE is None, reason="PARAMEDIC_REFERENCE_DATA is not set")
@pytest.mark.parametrize(
    ("file", "counts"),
    [
        ("kmsg.1.log", {}),
        ("kmsg.2.peermem.log", {"kernel_log": 7}),
        ("dmesg.decode.iso.log", {"kernel_log": 2}),
        ("dmesg-with-xid-119.log", {"xid": 5}),
        ("fabricmanager.log", {"sxid": 1}),
        ("xid_lines_from_gpud_tests.txt", {"xid": 121}),
    ],
)
def test_real_logs_hold_what_was_counted_by_hand(file: str, counts: dict[str, int]) -> None:
    facts = facts_of_lines(_reference(file), NODE, ERA)
    assert Counter(fact.kind.value for fact in facts) == counts


@pytest.mark.skipif(REFERENCE is None, reason="PARAMEDIC_REFERENCE_DATA is not set")
def test_real_facts_name_place_and_moment() -> None:
    xids = facts_of_lines(_reference("dmesg-with-xid-119.log"), NODE, ERA)
    assert [fact.timestamp_seconds - MOMENT for fact in xids] == [0, 6, 12, 174, 355]
    assert {fact.details["uuid"] for fact in xids} == {"GPU-509665ad-b600-ac93-3616-d754b23d636d"}
    (sxid,) = facts_of_lines(_reference("fabricmanager.log"), NODE, ERA)
    assert (sxid.details["sxid"], sxid.details["severity"], sxid.details["link"]) == (
        12028,
        "nonfatal",
        61,
    )
    lines = facts_of_lines(_reference("xid_lines_from_gpud_tests.txt"), NODE, ERA)
    actions = Counter(fact.details.get("recovery_action") for fact in lines)
    assert (actions[1], actions[4]) == (3, 1)
    nvlink5 = [fact for fact in lines if "unit" in fact.details]
    assert len(nvlink5) == 67  # grep finds one more, which is a template: `%s %s XC0 i0 Link 00`


def _reference(file: str) -> list[str]:
    folder = Path(str(REFERENCE)) / "exporter_kernel_fixtures" / "kernel"
    return (folder / file).read_text().splitlines()
