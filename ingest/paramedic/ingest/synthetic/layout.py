"""Who is where and does what: names, roles, switches, racks, identities of the cards."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from paramedic.ingest.contract import NodeName
from paramedic.ingest.synthetic.arrays import Floats, Integers
from paramedic.ingest.synthetic.configuration import Shape
from paramedic.ingest.synthetic.randomness import Dice, Stream


class Layout:
    """Ranks count through nodes and GPUs; tensor ranks are next to each other, stages far apart."""

    def __init__(self, shape: Shape, dice: Dice) -> None:
        self.shape = shape
        self.nodes = tuple(NodeName(f"node-{n:04d}") for n in range(1, shape.nodes + 1))
        ranks = np.arange(shape.nodes * shape.gpus).reshape(shape.nodes, shape.gpus)
        self.rank: Integers = ranks
        self.stage: Integers = ranks // (shape.data * shape.tensor)
        self.data_rank: Integers = ranks // shape.tensor % shape.data
        self.tensor_rank: Integers = ranks % shape.tensor
        self.expert_group: Integers = self.data_rank % shape.expert_groups
        self.switch: Integers = np.arange(shape.nodes) // shape.nodes_per_switch
        self.rack: Integers = np.arange(shape.nodes) // shape.nodes_per_rack
        self._dice = dice

    @property
    def switches(self) -> int:
        """How many leaf switches there are."""
        return int(self.switch[-1]) + 1

    @cached_property
    def uuids(self) -> tuple[tuple[str, ...], ...]:
        """The cards' UUIDs, by node and index."""
        words = self._dice.at(Stream.IDENTITY, 0).bytes(16 * self.rank.size).hex()
        return tuple(
            tuple(_uuid(words[32 * rank : 32 * rank + 32]) for rank in row)
            for row in self.rank.tolist()
        )

    def pace(self, own_seconds: Floats) -> Floats:
        """How long a step's computing takes whom: everybody in a replica goes with its slowest.

        Tensor ranks meet in every layer and stages hand on every micro-batch; expert groups meet
        in the all-to-all of every layer.
        """
        shape = self.shape
        by_role = own_seconds.reshape(shape.stages, shape.data, shape.tensor)
        replica = by_role.max(axis=(0, 2))
        meeting = replica.reshape(-1, shape.expert_groups).max(axis=1)
        replica = np.repeat(meeting, shape.expert_groups)
        spread = np.broadcast_to(replica[None, :, None], by_role.shape)
        return spread.reshape(self.rank.shape)


def _uuid(digits: str) -> str:
    return "GPU-" + "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
