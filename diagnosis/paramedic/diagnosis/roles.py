"""The roles of a job's nodes, as its events tell them: peers by stage, and who shares what.

Sources say with `joined` what a node's `pipeline_stage`, `switch` and `rack` are, once a node or
once a rank of it; a replay says the same of `job.json`. Where ranks and their node both speak, the
ranks hold. Who replaces a node takes its stage over, and not its place in the network.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from paramedic.diagnosis.grouping import Domain, DomainKind
from paramedic.ingest.contract import EventKind, NodeName
from paramedic.ingest.recordings.portrait import Portrait

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from paramedic.ingest.contract import Event, JobName
    from paramedic.ingest.recordings.description import JobDescription, NodeRoles, RankRoles

_NONE: frozenset[int] = frozenset()


@dataclass(slots=True)
class JobRoles:
    """What is known of one job; outlives a run of it, as machines stay where they are."""

    job: JobName
    _portrait: Portrait = field(init=False)
    _read: int = -1
    """The state of the portrait that the following were read from."""
    _stages: dict[NodeName, int] = field(default_factory=dict)
    _copies: dict[NodeName, frozenset[int]] = field(default_factory=dict)
    """Which copies of the model, or exchanges of experts, each node takes part in."""
    _domains: dict[Domain, frozenset[NodeName]] = field(default_factory=dict)
    _asked: tuple[frozenset[NodeName], dict[Domain, frozenset[NodeName]]] | None = None
    """Whose domains were asked for last, and what they are."""

    def __post_init__(self) -> None:
        self._portrait = Portrait(self.job)

    @property
    def version(self) -> int:
        """Grows whenever a role has changed."""
        return self._portrait.version

    def hear(self, event: Event) -> None:
        """Take note of what an event says of roles."""
        if event.kind is not EventKind.MEMBERSHIP:
            return
        self._portrait.hear(event)
        by = event.details.get("by")
        if event.node is not None and isinstance(by, str):
            self._succeed(event, event.node, NodeName(by))

    def stage_of(self, node: NodeName) -> int | None:
        """The node's pipeline stage; None where it is not known or its ranks differ."""
        self._read_portrait()
        return self._stages.get(node)

    def are_chained(self, one: NodeName, other: NodeName) -> bool:
        """Whether the nodes work on one copy of the model, or exchange tokens with each other's
        experts: each waits for the other within a step."""
        self._read_portrait()
        return not self._copies.get(one, _NONE).isdisjoint(self._copies.get(other, _NONE))

    def domains(self, present: Collection[NodeName]) -> dict[Domain, frozenset[NodeName]]:
        """The declared domains, each with those of these nodes that are in it.

        Nodes that have left, or are under maintenance, are not to be asked for.
        """
        self._read_portrait()
        nodes = frozenset(present)
        if self._asked is None or self._asked[0] != nodes:
            found = {domain: nodes & members for domain, members in self._domains.items()}
            there = {domain: members for domain, members in found.items() if members}
            self._asked = nodes, there
        return self._asked[1]

    def _succeed(self, event: Event, node: NodeName, by: NodeName) -> None:
        """Who takes a rank over has its roles; who takes a node's place, its stage."""
        details: dict[str, str | int | float | bool | None] = {"change": "joined"}
        stage = self.stage_of(node)
        if event.rank is None and stage is not None:
            details["pipeline_stage"] = stage
        self._portrait.hear(replace(event, node=by, details=details))

    def _read_portrait(self) -> None:
        if self._read == self._portrait.version:
            return
        self._read = self._portrait.version
        self._asked = None
        description = self._portrait.description()
        self._stages = _stages(description)
        self._copies = _copies(description)
        self._domains = _domains(description, self._stages)


def _stages(description: JobDescription) -> dict[NodeName, int]:
    """The stage of each node that has one."""
    told = _told(description, lambda one: one.pipeline_stage)
    return {node: next(iter(stages)) for node, stages in told.items() if len(stages) == 1}


def _copies(description: JobDescription) -> dict[NodeName, frozenset[int]]:
    """Which copies of the model, or exchanges of experts, each node takes part in."""
    # The experts of one exchange lie with consecutive data ranks, as Megatron-LM places them.
    experts = {one.expert_group for one in description.nodes}
    experts |= {one.expert_group for one in description.ranks}
    together = max(len(experts - {None}), 1)
    told = _told(description, lambda one: one.data_rank)
    return {node: frozenset(copy // together for copy in told[node]) for node in told}


def _told(
    description: JobDescription, role: Callable[[NodeRoles | RankRoles], int | None]
) -> dict[NodeName, set[int]]:
    """A role of each node's processes; of its own word where its ranks say nothing."""
    of_ranks: dict[NodeName, set[int]] = {}
    for rank in description.ranks:
        value = role(rank)
        if value is not None:
            of_ranks.setdefault(rank.node, set()).add(value)
    own = {node.name: {value} for node in description.nodes if (value := role(node)) is not None}
    return {**own, **of_ranks}


def _domains(
    description: JobDescription, stages: dict[NodeName, int]
) -> dict[Domain, frozenset[NodeName]]:
    found: dict[Domain, set[NodeName]] = {}
    for node in description.nodes:
        if node.switch is not None:
            found.setdefault(Domain(DomainKind.SWITCH, node.switch), set()).add(node.name)
        if node.rack is not None:
            found.setdefault(Domain(DomainKind.RACK, node.rack), set()).add(node.name)
    for name, stage in stages.items():
        found.setdefault(Domain(DomainKind.STAGE, str(stage)), set()).add(name)
    return {domain: frozenset(members) for domain, members in found.items()}
