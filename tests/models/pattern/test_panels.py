"""Who is compared with whom."""

from __future__ import annotations

import numpy as np

from models.pattern.made_up import JOB, gpu_values, history_of, nodes_named, window_of
from paramedic.ingest.contract import Entity
from paramedic.ingest.recordings.description import JobDescription, NodeRoles, RankRoles
from paramedic.models.history import JobHistory
from paramedic.models.pattern.panels import Panel, PanelKind, panels_of


def panels(history: JobHistory, *, use_roles: bool = True) -> tuple[Panel, ...]:
    return panels_of(history.windows, history.description, use_roles=use_roles)


def test_gpus_are_seen_one_by_one_and_as_the_mean_of_their_node() -> None:
    cards, whole = panels(history_of(gpu_values(4, 3)))
    assert (cards.kind, whole.kind) == (PanelKind.GPU, PanelKind.GPUS_OF_NODE)
    assert (cards.shape, whole.shape) == ((3, 8), (3, 4))
    assert whole.metrics[0] == "node_mean_of:gpu_power_watts"


def test_the_mean_of_a_node_leaves_out_what_was_not_observed() -> None:
    values = gpu_values(4, 2)
    values[0, 0, 0] = np.nan
    values[2:4, 0, 1] = np.nan
    history = history_of(values)
    read = panels(history)[1].read(history.windows[Entity.GPU], slice(None))
    assert read[0, 0, 0] == np.float32(values[1, 0, 0])
    assert np.isnan(read[1, 0, 1])


def test_rows_of_one_stage_are_peers_where_it_has_four_nodes() -> None:
    cards, whole = panels(history_of(gpu_values(8, 2), stages=2))
    assert cards.circles.members(0).tolist() == list(range(8))
    assert whole.circles.members(1).tolist() == [4, 5, 6, 7]


def test_stages_of_fewer_nodes_are_no_yardstick() -> None:
    cards, _ = panels(history_of(gpu_values(8, 2), stages=4))
    assert cards.circles.members(0).tolist() == list(range(16))


def test_without_roles_the_whole_job_is_the_circle() -> None:
    cards, _ = panels(history_of(gpu_values(8, 2), stages=2), use_roles=False)
    assert len(cards.circles.seats) == 1


def test_the_roles_of_ranks_say_more_than_those_of_their_node() -> None:
    nodes = nodes_named(4)
    ranks = [
        RankRoles(2 * at + gpu, node, gpu, pipeline_stage=gpu)
        for at, node in enumerate(nodes)
        for gpu in range(2)
    ]
    described = JobDescription(JOB, 1.0, tuple(NodeRoles(n, 2) for n in nodes), tuple(ranks))
    history = JobHistory(JOB, {Entity.GPU: window_of(gpu_values(4, 2))}, described)
    assert panels(history)[0].circles.members(1).tolist() == [1, 3, 5, 7]


def test_rows_without_roles_are_all_peers() -> None:
    history = JobHistory(JOB, {Entity.GPU: window_of(gpu_values(4, 2))})
    assert panels(history)[0].circles.members(0).tolist() == list(range(8))


def test_a_metric_nobody_trained_on_has_a_kind_as_well() -> None:
    panel = panels(history_of(gpu_values(4, 2)))[0]
    assert len(set(panel.kinds.tolist())) == 3
