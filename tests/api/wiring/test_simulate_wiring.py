"""From what was asked for to the synthetic cluster, and what is told on the way."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from paramedic.api.command_line.parser import build_parser
from paramedic.api.command_line.simulate_verb import _cluster, _serving
from paramedic.api.wiring import simulate as wiring
from paramedic.api.wiring.errors import PreflightError
from paramedic.api.wiring.simulate import ClusterWanted, FaultWanted, Serving
from paramedic.ingest.contract import NodeName
from paramedic.ingest.synthetic.cluster import SyntheticCluster
from paramedic.ingest.synthetic.configuration import ClusterConfig
from paramedic.ingest.synthetic.serving.addresses import NodeAddress

FAULT = ("--fault", "tensor_loss", "--fault-node", "node-0003", "--fault-gpu", "2",
         "--fault-at", "30", "--fault-seconds", "40", "--fault-strength", "0.25")  # fmt: skip
PARSER = build_parser()


def wanted(*flags: str) -> ClusterWanted:
    return _cluster(PARSER.parse_args(["simulate", *flags]))


def test_flags_become_the_cluster_and_its_fault() -> None:
    sizes = ("--nodes", "16", "--gpus", "4", "--stages", "2", "--experts", "2", "--seed", "7")
    cluster = wanted("--record", "r", *sizes, "--job", "llama", "--undisturbed", *FAULT)
    assert cluster == ClusterWanted(
        nodes=16, gpus=4, stages=2, experts=2, seed=7, job="llama", undisturbed=True,
        fault=FaultWanted("tensor_loss", "node-0003", 2, 30, 40, 0.25),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("flags", "age"),
    [
        (("--serve",), 120),
        (("--record", "r"), 0),
        (("--serve", "--already-running", "0"), 0),
        (("--record", "r", "--already-running", "9"), 9),
    ],
)
def test_a_served_job_is_two_minutes_old_and_a_recorded_one_begins(
    flags: tuple[str, ...], age: int
) -> None:
    assert wanted(*flags).age_seconds == age
    assert wanted(*flags).fault is None


def test_flags_become_the_way_of_serving() -> None:
    flags = ("--dialect", "si", "--job-labels", "pod", "--port", "0", "--port-per-node",
             "--speed", "2.5", "--seconds", "60", "--write-prometheus", "p.yml",
             "--write-hosts", "h")  # fmt: skip
    parsed = PARSER.parse_args(["simulate", "--serve", *flags])
    assert _serving(parsed) == Serving("si", "pod", 0, True, 2.5, 60, Path("p.yml"), Path("h"))
    usual = _serving(PARSER.parse_args(["simulate", "--serve"]))
    assert usual == Serving(port=9400)


def test_what_is_not_asked_for_is_as_the_model_has_it() -> None:
    assert ClusterWanted(job=ClusterConfig().job).config() == ClusterConfig()


def test_a_fault_ends_so_long_after_its_onset_or_stays() -> None:
    ends = ClusterWanted(age_seconds=100, fault=FaultWanted("tensor_loss", "n", at_second=20,
                                                            seconds=5))  # fmt: skip
    stays = ClusterWanted(fault=FaultWanted("tensor_loss", "n"))
    (plan,), (lasting,) = ends.config().faults, stays.config().faults
    assert (plan.onset, plan.end) == (120, 125)
    assert (lasting.onset, lasting.end) == (0, None)


def test_progress_is_told_every_two_seconds_and_at_the_end() -> None:
    now, said = [100.0], io.StringIO()
    progress = wiring.Progress(6, said, lambda: now[0])
    for done in range(1, 7):
        now[0] += 0.9
        progress(done)
    assert said.getvalue().splitlines() == [
        "paramedic: 3 of 6 s recorded",
        "paramedic: 6 of 6 s recorded",
    ]


def test_what_breaks_is_said_in_words() -> None:
    calm = SyntheticCluster(ClusterWanted(nodes=4, gpus=2, stages=1).config())
    fault = FaultWanted("tensor_loss", "node-0002")
    hurt = SyntheticCluster(ClusterWanted(nodes=4, gpus=2, stages=1, fault=fault).config())
    assert wiring._words(calm) == "4 nodes × 2 GPUs (nothing breaks)"
    lone = SyntheticCluster(ClusterWanted(nodes=1, gpus=1, stages=1).config())
    assert wiring._words(lone) == "1 node × 1 GPU (nothing breaks)"
    assert wiring._words(hurt) == "4 nodes × 2 GPUs (tensor_loss at node-0002)"


def test_lists_of_pages_are_written_where_they_are_asked_for(tmp_path: Path) -> None:
    addresses = [NodeAddress(NodeName("node-0001"), "127.0.0.1:9400", "/node-0001")]
    how = Serving(prometheus_file=tmp_path / "p.yml", hosts_file=tmp_path / "hosts")
    wiring._write_files(addresses, Serving())
    assert list(tmp_path.iterdir()) == []
    wiring._write_files(addresses, how)
    assert addresses[0].gpu_url in (tmp_path / "hosts").read_text()
    assert "127.0.0.1:9400" in (tmp_path / "p.yml").read_text()
    with pytest.raises(PreflightError, match=r"nowhere/p\.yml cannot be written: No such file"):
        wiring._write_files(addresses, Serving(prometheus_file=tmp_path / "nowhere" / "p.yml"))
