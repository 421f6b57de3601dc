"""`paramedic simulate`: a synthetic cluster, as exporters over HTTP or as a recording."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from paramedic.api.command_line import extras
from paramedic.api.command_line.errors import UsageError
from paramedic.api.command_line.paths import path
from paramedic.api.command_line.verbs import Call, Verb
from paramedic.api.settings.schema import Settings

if TYPE_CHECKING:
    from paramedic.api.wiring.simulate import ClusterWanted, FaultWanted, Serving

_TEACHING = """\
A seeded model of synchronous training on GPUs: whoever is slow makes everybody wait. It speaks as
dcgm-exporter and node_exporter do, so that everything can be tried without a GPU. What is broken
in it is told in a label file, and never in the telemetry.

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
_ALREADY_RUNNING_SECONDS = 120


def _add_flags(parser: ArgumentParser) -> None:
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument("--serve", action="store_true", help="serve the exporters' pages over HTTP")
    way.add_argument("--record", metavar="FOLDER", type=path, help="write a recording")
    _add_cluster_flags(parser)
    _add_fault_flags(parser)
    _add_serving_flags(parser)
    parser.add_argument(
        "--labels", metavar="FILE", type=path, default=None,
        help="with --record: where to say what is broken (default: labels.json beside the folder)",
    )  # fmt: skip


def _add_cluster_flags(parser: ArgumentParser) -> None:
    cluster = parser.add_argument_group("the cluster")
    cluster.add_argument(
        "--preset", choices=("small", "large"), default=None,
        help="small: 4 nodes; large: 512 nodes, 8 stages, steps of 6 s; other flags outrank it",
    )  # fmt: skip
    for flag, text in (
        ("--nodes", "how many (default: 64)"),
        ("--gpus", "GPUs a node (default: 8)"),
        ("--stages", "pipeline stages (default: 4 where they fit)"),
        ("--experts", "expert groups (default: 1)"),
        ("--seed", "everything random follows from it (default: 0)"),
    ):
        cluster.add_argument(flag, metavar="N", type=int, default=None, help=text)
    cluster.add_argument("--job", metavar="NAME", default="synthetic", help="(default: synthetic)")
    cluster.add_argument(
        "--seconds", metavar="N", type=int, default=None,
        help="how many to record (default: 600), or to serve (default: until ended)",
    )  # fmt: skip
    cluster.add_argument(
        "--undisturbed", action="store_true",
        help="no congestion, cron jobs, glitches or lost scrapes",
    )  # fmt: skip
    cluster.add_argument(
        "--already-running", metavar="SECONDS", type=int, default=None,
        help="how old the job is when it is first seen (default: 120 served, 0 recorded)",
    )  # fmt: skip


def _add_fault_flags(parser: ArgumentParser) -> None:
    fault = parser.add_argument_group("what breaks")
    fault.add_argument(
        "--fault", metavar="KIND", default=None, help="such as tensor_loss (default: nothing)"
    )
    fault.add_argument("--fault-node", metavar="NODE", default=None, help="such as node-0007")
    fault.add_argument(
        "--fault-gpu", metavar="N", type=int, default=None, help="(default: all of the node)"
    )
    fault.add_argument(
        "--fault-at", metavar="SECOND", type=int, default=0,
        help="counted from the first second that is seen (default: 0)",
    )  # fmt: skip
    fault.add_argument(
        "--fault-seconds", metavar="N", type=int, default=None, help="(default: it stays)"
    )
    fault.add_argument(
        "--fault-strength", metavar="SHARE", type=float, default=0.5, help="(default: 0.5)"
    )


def _add_serving_flags(parser: ArgumentParser) -> None:
    serving = parser.add_argument_group("serving")
    serving.add_argument(
        "--dialect", choices=("old", "classic", "classic-lower", "si"), default="classic",
        help="of dcgm-exporter: 1.x, to 4.8.2, 4.8.3 and 4.8.4, from 4.9 (default: classic)",
    )  # fmt: skip
    serving.add_argument(
        "--job-labels", choices=("hpc-job", "pod", "none"), default="hpc-job",
        help="which labels tell the job (default: hpc-job)",
    )  # fmt: skip
    serving.add_argument(
        "--port", metavar="PORT", type=int, default=9400, help="0: any free one (default: 9400)"
    )
    serving.add_argument(
        "--port-per-node", action="store_true", help="a port for each node, from --port on"
    )
    serving.add_argument(
        "--speed", metavar="FACTOR", type=float, default=1.0,
        help="seconds of the cluster in a second of the clock (default: 1)",
    )  # fmt: skip
    serving.add_argument("--write-prometheus", metavar="FILE", type=path, default=None,
                         help="write a prometheus.yml that scrapes all pages")  # fmt: skip
    serving.add_argument("--write-hosts", metavar="FILE", type=path, default=None,
                         help="write a list of all pages, one a line")  # fmt: skip


def _packages(flags: Namespace, settings: Settings) -> Sequence[str]:
    del settings
    return extras.SIMULATE if flags.record is None else (*extras.SIMULATE, "pyarrow")


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
    from paramedic.api.wiring.simulate import ClusterWanted

    age = _ALREADY_RUNNING_SECONDS if flags.record is None else 0
    return ClusterWanted(
        preset=flags.preset,
        nodes=flags.nodes,
        gpus=flags.gpus,
        stages=flags.stages,
        experts=flags.experts,
        seed=flags.seed,
        job=flags.job,
        undisturbed=flags.undisturbed,
        age_seconds=age if flags.already_running is None else flags.already_running,
        fault=None if flags.fault is None else _fault(flags),
    )


def _fault(flags: Namespace) -> FaultWanted:
    from paramedic.api.wiring.simulate import FaultWanted

    return FaultWanted(
        kind=flags.fault,
        node=flags.fault_node,
        gpu=flags.fault_gpu,
        at_second=flags.fault_at,
        seconds=flags.fault_seconds,
        strength=flags.fault_strength,
    )


def _serving(flags: Namespace) -> Serving:
    from paramedic.api.wiring.simulate import Serving

    return Serving(
        dialect=flags.dialect,
        job_labels=flags.job_labels,
        port=flags.port,
        port_per_node=flags.port_per_node,
        speed=flags.speed,
        seconds=flags.seconds,
        prometheus_file=flags.write_prometheus,
        hosts_file=flags.write_hosts,
    )


def _check(flags: Namespace) -> None:
    for name, least in (("seconds", 1), ("already_running", 0), ("fault_at", 0), ("port", 0),
                        ("fault_seconds", 1)):  # fmt: skip
        value = getattr(flags, name)
        if value is not None and value < least:
            flag = "--" + name.replace("_", "-")
            raise UsageError(f"{flag} {value}: must be at least {least}")
    if not 0 < flags.speed < 1e6:
        raise UsageError(f"--speed {flags.speed}: must be above 0 and below a million")
    if flags.fault is not None and flags.fault_node is None:
        raise UsageError("--fault needs --fault-node, such as node-0007")
    if flags.record is not None and (flags.write_prometheus or flags.write_hosts):
        raise UsageError("--write-prometheus and --write-hosts go with --serve")


SIMULATE = Verb(
    name="simulate",
    summary="be a cluster that trains: exporters over HTTP, or a recording",
    teaching=_TEACHING,
    setting_flags={},
    add_flags=_add_flags,
    packages=_packages,
    execute=_execute,
    extra="ingest",
)
