"""What NVIDIA's drivers and its fabric manager write into logs about errors, taken apart."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from paramedic.ingest.contract import EventKind

Details = Mapping[str, str | int | float | bool | None]

_PCI = r"[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\.[0-9a-fA-F])?"
_XID = re.compile(rf"NVRM: Xid \((?:PCI:)?({_PCI})(?: GPU-I:(\d+))?\): (\d+)(?:, ?(.*))?$")
_PROCESS = re.compile(r"pid=(?:'?<unknown>'?|(\d+)|\w*)(?:, name=(?:<unknown>|([^,]*)))?(?:, |$)")
# NVLink 5: sub-unit, severity, crossbar and instance, link, then registers, which may be cut off.
_NVLINK5 = re.compile(
    r"(?P<unit>\S+)\s+(?P<severity>Fatal|Nonfatal|Link Fatal)\s+XC\d+\s+i\d+\s+"
    r"Link\s+(?P<link>-?\d+)(?:\s+\((?P<registers>[^)]*))?"
)
_RECOVERY = re.compile(r"changed from 0x[0-9a-fA-F]+ \([^)]*\) to 0x([0-9a-fA-F]+) \(([^)]*)\)")
_SXID = re.compile(rf"nvidia-nvswitch(\d+): SXid \(PCI:({_PCI})\): (\d+), (.*)$")
_SXID_TEXT = re.compile(r"(?:(Fatal|Non-fatal), )?(?:Link (\d+) ?)?(.*)$", re.DOTALL)
_SXID_CONTINUED = ("Severity ", "Data {")
_FABRIC = re.compile(
    r"detected NVSwitch (?P<severity>fatal|non-fatal) error (?P<sxid>\d+) on fid \d+ on NVSwitch "
    rf"pci bus id (?P<pci>{_PCI}) physical id (?P<switch>\d+)(?: port (?P<port>\d+))?"
)
_BOUND = re.compile(rf"NVRM: GPU at (?:PCI:)?({_PCI}): (GPU-[0-9a-f-]+)")
_SIGNS = {
    "nccl_segfault": re.compile(r"segfault at .* in libnccl\.so"),
    "peermem_invalid_context": re.compile(r"nvidia-peermem .* invalid context"),
    "gpu_fell_off_bus": re.compile(r"NVRM: GPU .*fallen off the bus"),
}
_RECOVERY_XID = 154


@dataclass(frozen=True, slots=True)
class Finding:
    """What one line tells."""

    kind: EventKind
    details: Details = field(default_factory=dict)


def nvml_pci_bus_id(text: str) -> str:
    """The bus id as NVML and dcgm-exporter write it.

    >>> nvml_pci_bus_id("0000:9b:00")
    '00000000:9B:00.0'
    """
    address, _, function = text.partition(".")
    domain, bus, device = address.split(":")
    return f"{domain.zfill(8)}:{bus}:{device}.{function or 0}".upper()


def gpu_of_line(line: str) -> tuple[str, str] | None:
    """Bus id and UUID, where the driver tells which GPU sits where."""
    match = _BOUND.search(line)
    return None if match is None else (nvml_pci_bus_id(match[1]), match[2])


def should_tell(line: str) -> bool:
    """Whether the driver meant to tell of an error, also where nobody can read which."""
    match = _SXID.search(line)
    is_more_of_another = match is not None and match[4].startswith(_SXID_CONTINUED)
    return ("NVRM: Xid" in line or "SXid (" in line) and not is_more_of_another


def finding_of_line(line: str) -> Finding | None:
    """The error that the line tells of, if it does."""
    if "Xid" in line:
        return _xid(line) or _sxid(line)
    if "detected NVSwitch" in line:
        return _fabric(line)
    for sign, pattern in _SIGNS.items():
        match = pattern.search(line)
        if match is not None:
            return Finding(EventKind.KERNEL_LOG, {"sign": sign, "message": line[match.start() :]})
    return None


def _xid(line: str) -> Finding | None:
    match = _XID.search(line)
    if match is None:
        return None
    pci, slice_id, code, rest = match[1], match[2], int(match[3]), match[4] or ""
    process = _PROCESS.match(rest)
    message = rest if process is None else rest[process.end() :]
    details: dict[str, str | int | float | bool | None] = {
        "xid": code,
        "pci_bus_id": nvml_pci_bus_id(pci),
        "gpu_instance": None if slice_id is None else int(slice_id),
        "pid": None if process is None or process[1] is None else int(process[1]),
        "process": None if process is None else process[2],
        "message": message,
        **_nvlink5(message),
    }
    if code == _RECOVERY_XID:
        details.update(_recovery(message))
    return Finding(EventKind.XID, _present(details))


def _nvlink5(message: str) -> Details:
    match = _NVLINK5.match(message)
    if match is None:
        return {}
    return {
        "unit": match["unit"],
        "severity": _severity(match["severity"]),
        "link": int(match["link"]),
        "registers": match["registers"],
    }


def _recovery(message: str) -> Details:
    """The driver's own verdict, numbered as `gpu_recovery_action` is."""
    match = _RECOVERY.search(message)
    if match is None:
        return {}
    return {"recovery_action": int(match[1], 16), "recovery_text": match[2]}


def _sxid(line: str) -> Finding | None:
    """The first of the lines that the driver writes about one error; the others only detail it."""
    match = _SXID.search(line)
    if match is None or match[4].startswith(_SXID_CONTINUED):
        return None
    text = _SXID_TEXT.match(match[4])
    severity, link, message = (None, None, match[4]) if text is None else text.groups()
    return _switch_error(int(match[3]), match[2], int(match[1]), severity, link, message)


def _fabric(line: str) -> Finding | None:
    match = _FABRIC.search(line)
    if match is None:
        return None
    code, switch = int(match["sxid"]), int(match["switch"])
    message = line[match.start() :]
    return _switch_error(code, match["pci"], switch, match["severity"], match["port"], message)


def _switch_error(
    code: int, pci: str, switch: int, severity: str | None, link: str | None, message: str
) -> Finding:
    details: Details = {
        "sxid": code,
        "pci_bus_id": nvml_pci_bus_id(pci),
        "switch": switch,
        "severity": None if severity is None else _severity(severity),
        "link": None if link is None else int(link),
        "message": message,
    }
    return Finding(EventKind.SXID, _present(details))


def _severity(text: str) -> str:
    """`fatal`, `nonfatal` or `link_fatal`, however it was written."""
    return text.lower().replace("-", "").replace(" ", "_")


def _present(details: Details) -> Details:
    return {key: value for key, value in details.items() if value is not None}
