"""Hosts and GPUs: who lacks what, names that do not match, clocks that differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from paramedic.ingest.doctor.checks import Check, Level, Remedy, counted, named
from paramedic.ingest.doctor.clocks import TOLERANCE_SECONDS

if TYPE_CHECKING:
    from paramedic.ingest.contract import NodeName
    from paramedic.ingest.doctor.examination import Examination

_RELABEL = Remedy(
    "the scrape job of node_exporter, so that both name the node alike",
    (
        "relabel_configs:",
        "  - {source_labels: [__meta_kubernetes_pod_node_name], target_label: node}",
    ),
)
_COUNTERS = Remedy(
    "dcgm-exporter's arguments (docs/telemetry.md has the file)",
    ("-f /etc/dcgm-exporter/counters.csv -c 1000",),
)
_HOST_EXPORTER = Remedy("on each of them", ("node_exporter --collector.ethtool",))


def check_machines(seen: Examination) -> Iterator[Check]:
    """Hosts and GPUs."""
    gpus = seen.coverage.gpus_of()
    if not gpus:
        yield Check("GPUs", Level.MISSING, "no GPU metrics arrive, so no GPU is watched",
                    (_COUNTERS,))  # fmt: skip
        return
    yield _gpus(gpus)
    yield from _hosts(seen, set(gpus))


def check_clocks(seen: Examination) -> Iterator[Check]:
    """Clocks of hosts, which stamp kernel logs and what trainers say."""
    offsets = seen.clocks.offsets()
    if not offsets:
        text = "not measured: no node_time_seconds comes (node_exporter's collector `time`)"
        yield Check("clocks", Level.OK, text)
        return
    off = {node: by for node, by in offsets.items() if abs(by) > TOLERANCE_SECONDS}
    if not off:
        yield Check("clocks", Level.OK,
                    f"{counted(len(offsets), 'host')} within {TOLERANCE_SECONDS:g} s of each"
                    " other")  # fmt: skip
        return
    told = named(f"{node} by {by:+.1f} s" for node, by in off.items())
    yield Check("clocks", Level.WARNING, f"off the others: {told}: what these hosts stamp"
                " themselves (kernel logs, trainers) is moved onto the others' time",
                (Remedy("on these hosts", ("chronyc makestep && systemctl enable --now chronyd",)),)
                )  # fmt: skip


def _gpus(gpus: Mapping[NodeName, int]) -> Check:
    usual, _ = Counter(gpus.values()).most_common(1)[0]
    odd = {node: count for node, count in gpus.items() if count < usual}
    total = f"{counted(sum(gpus.values()), 'GPU')} on {counted(len(gpus), 'host')}"
    if not odd:
        return Check("GPUs", Level.OK, total)
    told = named(f"{node} shows {count}" for node, count in odd.items())
    return Check("GPUs", Level.WARNING, f"{total}; most hosts have {usual}, but {told}")


def _hosts(seen: Examination, with_gpus: set[NodeName]) -> Iterator[Check]:
    hosts = seen.coverage.hosts
    blind, bare = hosts - with_gpus, with_gpus - hosts
    if not hosts:
        yield Check("hosts", Level.WARNING, "no host metrics arrive: contention, disks and network"
                    " cannot be told from GPU faults", (_HOST_EXPORTER,))  # fmt: skip
    elif blind == hosts:
        yield Check("hosts", Level.WARNING, "GPUs and hosts have different names"
                    f" ({named(with_gpus, 1)} against {named(hosts, 1)}), so nothing of a host is"
                    " laid beside its GPUs", (_naming(seen, with_gpus),))  # fmt: skip
    else:
        yield from _one_sided(blind, bare, len(hosts & with_gpus))


def _naming(seen: Examination, with_gpus: set[NodeName]) -> Remedy:
    """How both come to name the node alike; an address is the name where nothing else is."""
    if any(one.scrape_job for said in seen.speakers.values() for one in said):
        return _RELABEL
    return Remedy(
        "the list of exporters, with the name that dcgm-exporter gives the node as its address",
        (f"http://{min(with_gpus)}:9100/metrics",),
    )


def _one_sided(blind: set[NodeName], bare: set[NodeName], both: int) -> Iterator[Check]:
    if blind:
        yield Check("hosts", Level.WARNING, f"without GPU metrics: {named(blind)}; right for hosts"
                    " without GPUs", (_COUNTERS,))  # fmt: skip
    if bare:
        yield Check("hosts", Level.WARNING, f"without host metrics: {named(bare)}",
                    (_HOST_EXPORTER,))  # fmt: skip
    if not blind and not bare:
        yield Check("hosts", Level.OK, f"all {both} have metrics of GPUs and of the host")
