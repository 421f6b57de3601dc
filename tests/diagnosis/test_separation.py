"""Culprits stand apart from everybody; victims have others that depart as they do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from paramedic.diagnosis.excuses import Excuse
from paramedic.diagnosis.separation import Picture, Suspect, culprits, why_spared
from paramedic.ingest.contract import Entity, EntityKey, NodeName
from paramedic.models.circles import Circles

NODES, GPUS = 8, 4
METRICS = ("sm", "tensor", "power")
NOBODY_SURE = np.zeros(NODES * GPUS)
WAITS = (-3.0, -9.0, -2.0)
WORKS = (6.0, -9.0, 4.0)


def picture(deviations: dict[tuple[int, int | None], tuple[float, ...]]) -> Picture:
    """Deviations by node and GPU (None: all of the node's); the others are healthy."""
    rows = tuple(
        EntityKey(Entity.GPU, NodeName(f"n{node}"), gpu)
        for node in range(NODES)
        for gpu in range(GPUS)
    )
    noise: NDArray[np.float64] = np.random.default_rng(0).normal(0, 0.5, (len(rows), len(METRICS)))
    for (node, gpu), values in deviations.items():
        part = slice(node * GPUS, (node + 1) * GPUS) if gpu is None else node * GPUS + gpu
        noise[part] += values
    nodes = Circles.of([row.node for row in rows])
    return Picture(noise, nodes)


def named(scene: Picture, suspected: tuple[int, ...]) -> list[int]:
    return [one.circle for one in culprits(map(scene.suspect, suspected), victim_share=0.5)]


def block(*nodes: int) -> dict[tuple[int, int | None], tuple[float, ...]]:
    return {(node, None): WAITS for node in nodes}


def test_who_stands_apart_from_its_block_is_the_culprit() -> None:
    apart = tuple(w - b for w, b in zip(WORKS, WAITS, strict=True))
    scene = picture({**block(0, 2, 4, 6), (4, 3): apart})
    assert named(scene, (0, 2, 4, 6)) == [4]
    assert scene.alike(scene.suspect(4), NOBODY_SURE) == (4 * GPUS + 3,)


def test_a_node_of_a_block_that_stands_apart_with_all_its_gpus_is_the_culprit() -> None:
    scene = picture({**block(0, 2, 6), (4, None): WORKS})
    assert named(scene, (0, 2, 4, 6)) == [4]
    assert len(scene.alike(scene.suspect(4), NOBODY_SURE)) == GPUS


def test_cards_with_as_much_evidence_of_the_same_are_alike_however_far_out() -> None:
    far = tuple(4 * one for one in WORKS)
    scene = picture({(4, 0): far, (4, 1): WORKS, (4, 2): (-6.0, 9.0, -4.0)})
    sure = NOBODY_SURE.copy()
    assert len(scene.alike(scene.suspect(4), sure)) == 1
    sure[4 * GPUS : 5 * GPUS] = 1.0, 0.7, 0.9, 0.1
    assert scene.alike(scene.suspect(4), sure) == (4 * GPUS, 4 * GPUS + 1)


def test_a_block_without_anybody_who_stands_apart_is_nobodys_fault() -> None:
    assert named(picture(block(0, 2, 4, 6)), (0, 2, 4, 6)) == []


def test_a_few_nodes_with_the_same_fault_are_all_culprits() -> None:
    assert named(picture(block(1, 5)), (1, 5)) == [1, 5]
    assert named(picture(block(1, 3, 5)), (1, 3, 5)) == [1, 3, 5]


def test_faults_of_different_kinds_are_all_culprits() -> None:
    scene = picture({(1, 0): (0.0, -12.0, 0.0), (6, None): (9.0, 0.0, 9.0)})
    assert named(scene, (1, 6)) == [1, 6]


def test_who_departs_by_much_less_than_the_farthest_is_its_victim() -> None:
    scene = picture({(1, 0): (0.0, -40.0, 0.0), (6, None): (5.0, 0.0, 5.0)})
    assert named(scene, (1, 6)) == [1]


def test_who_is_spared_as_a_victim_is_told_how_far_apart_it_stands_and_how_far_it_should() -> None:
    block = Suspect(3, 12, 8.0, 2.0)
    assert why_spared(block, [block], victim_share=0.5) == (Excuse.VICTIM, 25.0, 50.0)
    near, far = Suspect(5, 20, 5.0, 4.0), Suspect(6, 24, 21.0, 20.0)
    assert why_spared(near, [block, near, far], victim_share=0.5) == (Excuse.WEAKER, 20.0, 50.0)
    assert near not in culprits([near, far], victim_share=0.5)


def test_the_only_mate_of_a_culprit_is_its_victim() -> None:
    apart = tuple(w - b for w, b in zip(WORKS, WAITS, strict=True))
    assert named(picture({**block(0, 4), (4, 3): apart}), (0, 4)) == [4]


def test_nobody_is_suspected_of_nothing() -> None:
    assert culprits([], victim_share=0.5) == []
    assert culprits([Suspect(0, 0, 8.0, 0.0)], victim_share=0.5)[0].circle == 0


def test_who_is_sick_by_itself_is_no_victim_of_another_that_shows_the_same() -> None:
    near, far = Suspect(3, 12, 8.0, 1.0), Suspect(5, 20, 12.0, 9.0)
    assert culprits([near, far], victim_share=0.5) == [far]
    sick = replace(near, is_sick=True)
    assert culprits([sick, far], victim_share=0.5) == [sick, far]


def test_beside_somebody_who_is_sick_a_block_stays_a_block() -> None:
    sick, one, other = (
        Suspect(3, 12, 8.0, 1.0, is_sick=True),
        *(Suspect(at, 4 * at, 6.0, 0.5) for at in (5, 6)),
    )
    assert culprits([sick, one, other], victim_share=0.5) == [sick]
    assert culprits([one, other], victim_share=0.5) == [one, other]
