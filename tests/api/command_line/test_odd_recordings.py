"""Whatever a recording holds, `replay` ends with verdicts or with one clear line."""

from __future__ import annotations

import io
import math
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.recordings.recorded import (
    Row,
    describe,
    gpu_row,
    moment,
    write_events,
    write_rows,
    write_table,
)
from paramedic.api.command_line.dispatch import dispatch
from paramedic.api.command_line.surroundings import Surroundings
from paramedic.diagnosis.contract import Verdict

SECONDS = 27
"""Enough for machines to be judged: they settle for 20 s, and slots close 3 s late."""
NODES = ("a", "b", "c", "d")
GPU_METRICS = ("gpu_tensor_active_ratio", "gpu_power_watts", "gpu_pcie_rx_bytes_per_second")
NODE_METRICS = ("cpu_utilization_ratio", "process_stopped")
RANK_METRICS = ("heartbeat", "step", "compute_seconds", "collective_seconds")
few = settings(max_examples=settings().max_examples // 3)


def replay(folder: Path) -> tuple[int, list[Verdict], list[str]]:
    """Exit code, verdicts, and the lines of standard error."""
    out, err = io.StringIO(), io.StringIO()
    code = dispatch(["replay", str(folder)], Surroundings(folder, {}, out, err))
    verdicts = [Verdict.from_json(line.encode()) for line in out.getvalue().splitlines()]
    return code, verdicts, err.getvalue().splitlines()


def ends_well(folder: Path) -> list[Verdict]:
    """Replay it; whatever it is, it ends as promised."""
    code, verdicts, told = replay(folder)
    assert code in (0, 2)
    assert all(line.startswith("paramedic: ") for line in told)
    if code == 2:
        assert len(told) == 1
        assert verdicts == []
    return verdicts


def wave(second: float, salt: int) -> float:
    """Something that moves, within 0 and 1."""
    return 0.5 + 0.1 * math.sin(second * 1.7 + salt * 2.3) + 0.01 * ((int(second) * 7 + salt) % 5)


def row(second: float, node: str, metrics: Iterable[str], **keys: int) -> Row:
    salt = ord(node[0]) + sum(keys.values())
    values = {name: wave(second, salt + len(name)) for name in metrics}
    return {"timestamp": moment(second), "node": node, **keys, **values}


def gpus(metrics: Iterable[str] = GPU_METRICS, nodes: Iterable[str] = NODES) -> list[Row]:
    names = tuple(metrics)
    return [
        row(second, node, names, gpu=gpu)
        for second in range(SECONDS)
        for node in nodes
        for gpu in (0, 1)
    ]


def hosts(nodes: Iterable[str] = NODES) -> list[Row]:
    return [row(second, node, NODE_METRICS) for second in range(SECONDS) for node in nodes]


def ranks(nodes: Iterable[str] = NODES) -> list[Row]:
    return [
        row(second, node, RANK_METRICS, rank=rank)
        for second in range(SECONDS)
        for rank, node in enumerate(nodes)
    ]


def with_values(rows: list[Row], value: float | None) -> list[Row]:
    keys = ("timestamp", "node", "gpu", "rank")
    return [{k: v if k in keys else value for k, v in one.items()} for one in rows]


def one_machine(folder: Path) -> None:
    describe(folder, ["a"])
    for entity, rows in (("gpu", gpus(nodes="a")), ("node", hosts("a")), ("rank", ranks("a"))):
        write_rows(folder, entity, rows)


def no_gpus(folder: Path) -> None:
    described = describe(folder, NODES) / "job.json"
    described.write_text(described.read_text().replace('"gpus": 8', '"gpus": 0'))
    write_rows(folder, "node", hosts())


def unknown_metrics(folder: Path) -> None:
    write_rows(describe(folder, NODES), "gpu", gpus(("vendor_thing", "other_thing_total")))


def constant(folder: Path) -> None:
    describe(folder, NODES)
    for entity, rows in (("gpu", gpus()), ("node", hosts()), ("rank", ranks())):
        write_rows(folder, entity, with_values(rows, 1.0))


def extreme(folder: Path) -> None:
    describe(folder, NODES)
    for entity, rows, value in (("gpu", gpus(), 3e38), ("node", hosts(), -math.inf)):
        write_rows(folder, entity, with_values(rows, value))
    write_rows(folder, "rank", with_values(ranks(), math.inf))


def all_null(folder: Path) -> None:
    describe(folder, NODES)
    write_rows(folder, "gpu", with_values(gpus(), None))
    write_rows(folder, "node", with_values(hosts(), math.nan))


def rows_twice(folder: Path) -> None:
    write_rows(describe(folder, NODES), "gpu", [one for one in gpus() for _ in range(2)])


def backwards(folder: Path) -> None:
    describe(folder, NODES)
    write_rows(folder, "gpu", gpus()[::-1])
    write_rows(folder, "rank", ranks()[::-1])


def arrived_backwards(folder: Path) -> None:
    rows = [one | {"arrived": moment(100 - at / 10)} for at, one in enumerate(gpus())]
    write_rows(describe(folder, NODES), "gpu", rows)


def empty_files(folder: Path) -> None:
    write_table(describe(folder), "gpu", {"timestamp": [], "node": [], "gpu": []})


def no_bytes(folder: Path) -> None:
    (describe(folder) / "gpu.parquet").write_bytes(b"")


def no_nodes(folder: Path) -> None:
    write_rows(describe(folder, []), "gpu", gpus())


def nobody_described(folder: Path) -> None:
    write_rows(describe(folder, ["x", "y"]), "gpu", gpus())


def one_slot(folder: Path) -> None:
    write_rows(describe(folder), "gpu", [gpu_row(0), gpu_row(0, "b")])


def only_events(folder: Path) -> None:
    write_events(describe(folder), {"timestamp": "2026-01-01T00:00:00Z", "kind": "xid"})


def years_apart(folder: Path) -> None:
    write_rows(describe(folder), "gpu", [gpu_row(0), gpu_row(86_400 * 400), gpu_row(-1e9, "b")])


def nothing(folder: Path) -> None:
    folder.mkdir()


def only_a_description(folder: Path) -> None:
    describe(folder)


def wide_samples(folder: Path) -> None:
    write_rows(describe(folder, NODES, sampling_seconds=1e9), "gpu", gpus())


ODD: list[Callable[[Path], None]] = [
    one_machine,
    no_gpus,
    unknown_metrics,
    constant,
    extreme,
    all_null,
    rows_twice,
    backwards,
    arrived_backwards,
    empty_files,
    no_bytes,
    no_nodes,
    nobody_described,
    one_slot,
    only_events,
    years_apart,
    nothing,
    only_a_description,
    wide_samples,
]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: odd.__name__)
def test_odd_contents_end_in_verdicts_or_in_one_line(
    odd: Callable[[Path], None], tmp_path: Path
) -> None:
    odd(tmp_path / "r")
    verdicts = ends_well(tmp_path / "r")
    assert [one for one in verdicts if one.node is not None] == []


Mutation = Callable[[list[Row]], list[Row]]


def _metric_of(rows: list[Row], at: int) -> str:
    names = [name for name in rows[0] if name.startswith(("gpu_", "cpu", "step", "heart"))]
    return names[at % len(names)]


def _dropped(every: int, at: int) -> Mutation:
    return lambda rows: [one for number, one in enumerate(rows) if number % (every + 2) != at % 2]


def _shifted(seconds: int, at: int) -> Mutation:
    return lambda rows: [
        one | {"timestamp": moment(number // 8 + (seconds if number > at else 0))}
        for number, one in enumerate(rows)
    ]


def _set(value: float | None, at: int) -> Mutation:
    return lambda rows: [
        one | {_metric_of(rows, at): value} if number % 3 == at % 3 else one
        for number, one in enumerate(rows)
    ]


def _renamed(node: str, at: int) -> Mutation:
    return lambda rows: [
        one | {"node": node} if number > at else one for number, one in enumerate(rows)
    ]


def _shuffled(step: int, at: int) -> Mutation:
    return lambda rows: sorted(rows, key=lambda one: zlib.crc32(f"{one}{at}".encode()) % (step + 2))


places = st.integers(0, SECONDS * 8)
values = st.one_of(st.none(), st.floats(width=32), st.just(0.0))
mutations = st.one_of(
    st.builds(_dropped, st.integers(0, 5), places),
    st.builds(_shifted, st.integers(-(10**6), 10**6), places),
    st.builds(_set, values, places),
    st.builds(_renamed, st.sampled_from(["a", "", "é", "x" * 300]), places),
    st.builds(_shuffled, st.integers(0, 20), places),
)


@pytest.mark.long
@few
@given(st.lists(mutations, min_size=1, max_size=4), st.sampled_from(["gpu", "rank", "node"]))
def test_a_recording_with_anything_done_to_it_ends_as_promised(
    tmp_path_factory: pytest.TempPathFactory, mutated: list[Mutation], entity: str
) -> None:
    folder = describe(tmp_path_factory.mktemp("odd") / "r", NODES)
    whole = {"gpu": gpus(), "rank": ranks(), "node": hosts()}
    for mutate in mutated:
        whole[entity] = mutate(whole[entity])
    for name, rows in whole.items():
        write_rows(folder, name, rows)
    ends_well(folder)
