"""`paramedic simulate`: a synthetic cluster, as exporters over HTTP or as a recording."""

from __future__ import annotations

import math
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from paramedic.api.command_line import extras
from paramedic.api.command_line.errors import UsageError
from paramedic.api.command_line.flags import filled, integer, path, port, switch, valued
from paramedic.api.command_line.verbs import Call, Verb
from paramedic.api.settings.schema import Settings

if TYPE_CHECKING:
    from paramedic.api.wiring.simulate import ClusterWanted, Serving

_TEACHING = """\
A seeded model of synchronous training on GPUs: whoever is slow makes everybody wait. It speaks as
dcgm-exporter and node_exporter do, so that everything can be tried without a GPU. What is broken
in it is told in a label file, and never in the telemetry.

kinds of faults, each with a random part of its effects:
  tensor_loss           matrix work falls off the tensor cores (strength: which share of it)
  ecc_error             GPU memory that flips bits
  cuda_execution_error  kernels fail, are tried again, and end a process
  gpu_execution_error   a GPU, or all of a node, that execute badly
  pcie_downgrade        a PCIe link of fewer lanes or a lower generation
  machine_unreachable   a node of which nothing comes any more
  nic_dropout           a network card that does less, or nothing
  storage_error         a disk or file system that is slow or fails
  gpu_card_drop         a GPU that falls off the bus
  nvlink_error          NVLink lanes that fail
  aoc_error             an optical cable that fades
  thermal_throttle      cards that get too warm
  host_contention       another program on the host
  straggler             slower than the others, and no counter says why
  network_group         a leaf switch: all nodes behind it at once

examples:
  paramedic simulate --nodes 64 --gpus 8 --serve --write-prometheus prometheus.yml
  paramedic simulate --serve --fault tensor_loss --fault-node node-0007 --fault-gpu 3 --fault-at 120
  paramedic simulate --nodes 64 --seconds 600 --seed 7 --record recordings/a
  paramedic simulate --serve --port 0 --seconds 60 --write-hosts hosts.txt

exit codes:
  0    the seconds are over or recorded; served until SIGTERM or Ctrl-C
  2    something cannot work (one line says what)
  130  Ctrl-C while recording; what was recorded until then can be read
"""
_DEFAULT_RECORDED_SECONDS = 600
# Flags without a default in the parser: it has to be seen whether they were given.
_OF_A_FAULT = {"fault_node": None, "fault_gpu": None, "fault_at": 0, "fault_seconds": None,
               "fault_strength": 0.5}  # fmt: skip
_OF_SERVING = {"dialect": "classic", "job_labels": "hpc-job", "port": 9400, "port_per_node": False,
               "speed": 1.0, "prometheus_file": None, "hosts_file": None}  # fmt: skip
_WRITTEN = {"prometheus_file": "--write-prometheus", "hosts_file": "--write-hosts"}
_ALREADY_RUNNING_SECONDS = 120


def _add_flags(parser: ArgumentParser) -> None:
    way = parser.add_mutually_exclusive_group(required=True)
    switch(way, "--serve", "serve the exporters' pages over HTTP")
    valued(way, "--record", "FOLDER", "write a recording", path)
    _add_cluster_flags(parser)
    _add_fault_flags(parser)
    _add_serving_flags(parser)
    labels = "with --record: where to say what is broken (default: FOLDER.labels.json)"
    valued(parser, "--labels", "FILE", labels, path)


def _add_cluster_flags(parser: ArgumentParser) -> None:
    cluster = parser.add_argument_group("the cluster")
    cluster.add_argument(
        "--preset",
        choices=("small", "large"),
        help="small: 4 nodes; large: 512 nodes, 8 stages, steps of 6 s; other flags outrank it",
    )
    for flag, words in (
        ("--nodes", "how many (default: 64)"),
        ("--gpus", "GPUs a node (default: 8)"),
        ("--stages", "pipeline stages (default: 4 where they fit)"),
        ("--experts", "expert groups (default: 1)"),
        ("--seed", "everything random follows from it (default: 0)"),
    ):
        valued(cluster, flag, "N", words, integer)
    valued(cluster, "--job", "NAME", "(default: synthetic)", default="synthetic")
    seconds = "how many to record (default: 600), or to serve (default: until ended)"
    valued(cluster, "--seconds", "N", seconds, integer)
    switch(cluster, "--undisturbed", "no congestion, cron jobs, glitches or lost scrapes")
    age = "how old the job is when it is first seen (default: 120 served, 0 recorded)"
    valued(cluster, "--already-running", "SECONDS", age, integer)


def _add_fault_flags(parser: ArgumentParser) -> None:
    fault = parser.add_argument_group("what breaks")
    valued(fault, "--fault", "KIND", "one of those below (default: nothing)")
    valued(fault, "--fault-node", "NODE", "such as node-0007")
    valued(fault, "--fault-gpu", "N", "(default: all of the node)", integer)
    at = "counted from the first second that is seen (default: 0)"
    valued(fault, "--fault-at", "SECOND", at, integer)
    valued(fault, "--fault-seconds", "N", "(default: it stays)", integer)
    valued(fault, "--fault-strength", "SHARE", "(default: 0.5)", float)


def _add_serving_flags(parser: ArgumentParser) -> None:
    serving = parser.add_argument_group("serving")
    serving.add_argument(
        "--dialect",
        choices=("old", "classic", "classic-lower", "si"),
        help="of dcgm-exporter: 1.x, to 4.8.2, 4.8.3 and 4.8.4, from 4.9 (default: classic)",
    )
    labels = "which labels tell the job (default: hpc-job)"
    serving.add_argument("--job-labels", choices=("hpc-job", "pod", "none"), help=labels)
    valued(serving, "--port", "PORT", "0: any free one (default: 9400)", port)
    switch(serving, "--port-per-node", "a port for each node, from --port on")
    speed = "seconds of the cluster in a second of the clock (default: 1)"
    valued(serving, "--speed", "FACTOR", speed, float)
    prometheus = "write a prometheus.yml that scrapes all pages"
    valued(serving, "--write-prometheus", "FILE", prometheus, path, dest="prometheus_file")
    hosts = "write a list of all pages, one a line"
    valued(serving, "--write-hosts", "FILE", hosts, path, dest="hosts_file")


def _packages(flags: Namespace, _settings: Settings) -> Sequence[str]:
    return extras.SIMULATE if flags.record is None else extras.RECORDINGS


def _execute(call: Call) -> int:
    flags, around = call.flags, call.surroundings
    _check(flags)
    from paramedic.api.wiring.simulate import record, serve

    if flags.record is None:
        return serve(_cluster(flags), _serving(flags), around.stdout, around.stderr)
    seconds = _DEFAULT_RECORDED_SECONDS if flags.seconds is None else flags.seconds
    return record(
        _cluster(flags), flags.record, flags.labels, seconds, around.stdout, around.stderr
    )


def _cluster(flags: Namespace) -> ClusterWanted:
    from paramedic.api.wiring.run_folder import job_name
    from paramedic.api.wiring.simulate import ClusterWanted, FaultWanted

    age = _ALREADY_RUNNING_SECONDS if flags.record is None else 0
    fault = _with_defaults(flags, _OF_A_FAULT)
    return filled(
        ClusterWanted,
        flags,
        job=job_name(flags.job, ()),
        age_seconds=age if flags.already_running is None else flags.already_running,
        fault=None if flags.fault is None else FaultWanted(flags.fault, *fault.values()),
    )


def _serving(flags: Namespace) -> Serving:
    from paramedic.api.wiring.simulate import Serving

    return filled(Serving, flags, **_with_defaults(flags, _OF_SERVING))


def _with_defaults(flags: Namespace, defaults: Mapping[str, Any]) -> dict[str, Any]:
    given = {name: getattr(flags, name) for name in defaults}
    return {name: defaults[name] if one is None else one for name, one in given.items()}


def _check(flags: Namespace) -> None:
    for name, least in (("seconds", 1), ("already_running", 0), ("fault_at", 0),
                        ("fault_seconds", 1)):  # fmt: skip
        value = getattr(flags, name)
        if value is not None and value < least:
            raise UsageError(f"{_flag(name)} {value}: must be at least {least}")
    if flags.speed is not None and not 0 < flags.speed < 1e6:
        raise UsageError(f"--speed {flags.speed}: must be above 0 and below a million")
    _check_fault(flags)
    if flags.record is not None:
        _refuse(flags, _OF_SERVING, "with --serve")


def _check_fault(flags: Namespace) -> None:
    if flags.fault is None:
        _refuse(flags, _OF_A_FAULT, "with --fault")
        return
    from paramedic.ingest.synthetic.faults.catalogue import FAULTS

    if flags.fault not in FAULTS:
        raise UsageError(f"--fault {flags.fault!r}: there is none; known are {', '.join(FAULTS)}")
    if flags.fault_node is None:
        raise UsageError("--fault needs --fault-node, such as node-0007")
    seen = _seen_seconds(flags)
    if flags.fault_at is not None and flags.fault_at >= seen:
        raise UsageError(
            f"--fault-at {flags.fault_at}: only {seen:g} s are seen and nothing would break:"
            " break it sooner, or raise --seconds"
        )


def _seen_seconds(flags: Namespace) -> float:
    """How much of the cluster's time is recorded or served."""
    if flags.record is not None:
        return _DEFAULT_RECORDED_SECONDS if flags.seconds is None else int(flags.seconds)
    speed = 1.0 if flags.speed is None else float(flags.speed)
    return math.inf if flags.seconds is None else flags.seconds * speed


def _refuse(flags: Namespace, names: Iterable[str], where: str) -> None:
    given = [_flag(name) for name in names if _is_given(getattr(flags, name))]
    if given:
        goes = "goes" if len(given) == 1 else "go"
        raise UsageError(f"{' and '.join(given)} {goes} {where}")


def _is_given(value: object) -> bool:
    return value is not None and value is not False  # 0 is given


def _flag(name: str) -> str:
    return _WRITTEN.get(name) or "--" + name.replace("_", "-")


SIMULATE = Verb(
    name="simulate",
    summary="be a cluster that trains: exporters over HTTP, or a recording",
    teaching=_TEACHING,
    add_flags=_add_flags,
    packages=_packages,
    execute=_execute,
    extra="ingest",
)
