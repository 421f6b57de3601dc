"""Labels as the exporter meant them: before Prometheus renamed them, and without empty ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from ipaddress import ip_address
from typing import TYPE_CHECKING

from paramedic.ingest.contract import NodeName

if TYPE_CHECKING:
    from paramedic.ingest.sources.port import Series

_ABSENT = frozenset(("", "NA"))
_EXPORTED = "exported_"
_OF_THE_POD = ("pod", "namespace", "container", "pod_uid")
_THIS_HOST = frozenset(("localhost", "127.0.0.1", "::1", "0.0.0.0", "ip6-localhost"))
_EXPORTER = "exporter"


def present_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """Without those that say nothing: empty ones, and AMD's `NA`."""
    return {label: value for label, value in labels.items() if value not in _ABSENT}


def exporters_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """Labels as the exporter gave them.

    A scrape that keeps its own labels moves the exporter's to `exported_…`, and `pod` then names
    the exporter's pod; an idle GPU has no `exported_pod` at all.
    """
    present = present_labels(labels)
    renamed = {
        label.removeprefix(_EXPORTED): value
        for label, value in present.items()
        if label.startswith(_EXPORTED)
    }
    own = {label: value for label, value in present.items() if not label.startswith(_EXPORTED)}
    if "pod" not in renamed and _is_exporters_pod(own):
        for label in _OF_THE_POD:
            own.pop(label, None)
    return own | renamed


def node_of(
    labels: Mapping[str, str], order: Sequence[str], default: NodeName | None
) -> NodeName | None:
    """The node that the labels name, else the default.

    Dcgm-exporter puts its pod's name into `Hostname` when it was not told its node's.
    """
    for label in order:
        name = labels.get(label, "")
        if label == "instance":
            name = without_port(name)
        if name not in _ABSENT and not _says_nothing(name, labels):
            return NodeName(name)
    return default


def named_by_page(series: Iterable[Series], default: NodeName | None) -> NodeName | None:
    """The default, or where that is only an address what the page's one `node_uname_info` says.

    A host name is kept: that is what other exporters of the host are asked by, too.
    """
    if default is None or not _is_address(default):
        return default
    names = {one.labels.get("nodename", "") for one in series if one.name == "node_uname_info"}
    name = names.pop() if len(names) == 1 else ""
    return default if name in _ABSENT or name in _THIS_HOST else NodeName(name)


def without_port(address: str) -> str:
    """`10.0.0.1:9400` as `10.0.0.1`, `[::1]:9400` as `::1`."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit() or (":" in host and not host.endswith("]")):
        return address.strip("[]")
    return host.strip("[]")


def _is_address(name: str) -> bool:
    if name in _THIS_HOST:
        return True
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _says_nothing(name: str, labels: Mapping[str, str]) -> bool:
    return name in _THIS_HOST or _EXPORTER in name or name == labels.get("pod")


def _is_exporters_pod(labels: Mapping[str, str]) -> bool:
    return _EXPORTER in labels.get("pod", "") or _EXPORTER in labels.get("container", "")
