"""Which job each GPU belongs to, by event time; a node belongs to the jobs of its GPUs.

a label names its job  ──▶ that job, at once
the label is missing   ──▶ the same job for `unlabelled_seconds`, then none
no label anywhere      ──▶ the job of all busy hosts: a GPU joins when it has been in use for
                           `busy_seconds`, and leaves when its host has been idle for
                           `idle_seconds`
nothing is heard       ──▶ the same job for `absent_seconds` of what others say
two origins contradict ──▶ two machines of one name, each in the job that its own origin names
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paramedic.ingest.collect.configuration import EVERYBODY
from paramedic.ingest.collect.labels import Role, job_of, roles_of, roles_of_node
from paramedic.ingest.collect.seats import Host, Place, Seat
from paramedic.ingest.contract import JobName, NodeName

if TYPE_CHECKING:
    from paramedic.ingest.collect.configuration import LabelSettings, TenancySettings
    from paramedic.ingest.contract import Table

_EVERYBODY = JobName(EVERYBODY)
_NO_LABELS: Mapping[str, str] = {}
Labels = Mapping[tuple[NodeName, int | None], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Move:
    """A node that came into a job or has left it."""

    job: JobName
    node: NodeName
    has_joined: bool
    roles: Mapping[str, Role] = field(default_factory=dict)
    """Of a node that joined, where labels name them."""
    gpus: int = 0
    """How many GPUs a node that joined brought."""


class Tenancy:
    """Follows the pages of all origins; the same pages in the same order give the same jobs."""

    def __init__(self, labels: LabelSettings, settings: TenancySettings) -> None:
        self._labels = labels
        self.settings = settings
        self._hosts: dict[NodeName, Host] = {}
        self._host_used_at: dict[NodeName, float] = {}
        self._members: dict[JobName, dict[NodeName, set[Place]]] = {}
        self._jobs_of_node: dict[NodeName, tuple[JobName, ...]] = {}
        self._was_member: dict[tuple[JobName, NodeName], bool] = {}
        self.version = 0
        """Grows whenever some GPU changes its job."""
        self.has_job_labels = False
        """Whether any label has ever named a job; then nobody is in the job of all busy hosts."""

    def observe(
        self,
        second: int,
        table: Table,
        labels: Labels,
        in_use: Sequence[bool],
        origin: str = "",
    ) -> None:
        """Take the GPU rows of a page in: their labels, and which are in use."""
        for node, gpu, used in zip(table.nodes, table.indices or (), in_use, strict=True):
            of_gpu = labels.get((node, gpu), _NO_LABELS)
            place = self._place(node, gpu, origin, of_gpu, second)
            seat = self._hosts[node].seat(place)
            self._note_labels(seat, of_gpu)
            self._note_use(node, seat, second, origin, is_used=used)
            self._settle(node, place, seat, second)

    def expire(self, frontier: int) -> list[NodeName]:
        """Let nodes go of which nothing has been heard for too long, and tell which.

        `frontier` is the newest second that anybody spoke of: while all are silent nobody leaves.
        """
        oldest = frontier - self.settings.absent_seconds
        for node, host in self._hosts.items():
            for place in host.twins_before(oldest) if host.twins else ():
                self._part(node, place)
        gone = [
            node
            for node, seats in self._hosts.items()
            if all(seat.seen_at < oldest for _, seat in seats.items())
        ]
        for node in gone:
            for place, seat in self._hosts[node].items():
                self._move(node, place, seat, None)
            del self._hosts[node]
            self._host_used_at.pop(node, None)
            self._jobs_of_node.pop(node, None)
        return gone

    def take_moves(self) -> list[Move]:
        """Who came and who left since the last call, by job and node."""
        moves = [
            self.arrival(job, node) if has_joined else Move(job, node, has_joined)
            for (job, node), was_member in sorted(self._was_member.items())
            if (has_joined := node in self._members.get(job, ())) is not was_member
        ]
        self._was_member.clear()
        return moves

    def job_of(self, node: NodeName, gpu: int, origin: str = "") -> JobName | None:
        """The job of a GPU of which an origin speaks."""
        host = self._hosts.get(node)
        seat = None if host is None else host.find(gpu, origin)
        return None if seat is None else seat.job

    @property
    def twins(self) -> tuple[NodeName, ...]:
        """Names that several machines bear now, sorted."""
        return tuple(sorted(node for node, host in self._hosts.items() if host.twins))

    def has_twin(self, node: NodeName) -> bool:
        """Whether several machines bear this name."""
        host = self._hosts.get(node)
        return host is not None and bool(host.twins)

    def jobs_of(self, node: NodeName) -> tuple[JobName, ...]:
        """The jobs of a node, by name."""
        return self._jobs_of_node.get(node, ())

    def nodes_of(self, job: JobName) -> list[NodeName]:
        """The nodes of a job, by name."""
        return sorted(self._members.get(job, ()))

    def size_of(self, job: JobName) -> int:
        """How many nodes a job has."""
        return len(self._members.get(job, ()))

    def gpus_of(self, job: JobName) -> int:
        """How many GPUs a job has."""
        return sum(map(len, self._members.get(job, {}).values()))

    def arrival(self, job: JobName, node: NodeName) -> Move:
        """The move by which a node of a job came, with the roles as they are now."""
        places = self._members[job][node]
        roles = roles_of_node({place.gpu: self._hosts[node][place].roles for place in places})
        return Move(job, node, has_joined=True, roles=roles, gpus=len(places))

    def is_working(self, job: JobName, second: int) -> bool:
        """Whether some GPU of the job has been in use for long enough."""
        since = second - self.settings.busy_seconds
        return any(
            self._hosts[node][place].used_since <= since
            for node, places in self._members.get(job, {}).items()
            for place in places
        )

    def hosts(self) -> tuple[int, int]:
        """How many hosts with GPUs are known, and how many GPUs."""
        return len(self._hosts), sum(map(len, self._hosts.values()))

    def is_host(self, node: NodeName) -> bool:
        """Whether a GPU of the node is known."""
        return node in self._hosts

    def _place(
        self, node: NodeName, gpu: int, origin: str, labels: Mapping[str, str], second: int
    ) -> Place:
        """Of which seat the origin speaks; one of its own while others contradict it."""
        host = self._hosts.get(node)
        if host is None:
            host = self._hosts[node] = Host()
        shared = host.seat(Place(gpu))
        if shared.named_by in ("", origin) and not host.twins:
            return Place(gpu)
        own, fresh_since = Place(gpu, origin), second - self.settings.unlabelled_seconds
        if host.is_twin(gpu, origin, job_of(labels, self._labels), fresh_since):
            host.twins.add(origin)
            return own
        if origin in host.twins:
            self._part(node, own)
        return Place(gpu)

    def _part(self, node: NodeName, twin: Place) -> None:
        """The twin is no more."""
        host = self._hosts[node]
        self._move(node, twin, host.seat(twin), None)
        host.drop(twin)

    def _note_labels(self, seat: Seat, labels: Mapping[str, str]) -> None:
        if labels is seat.labels:
            return
        seat.labels = labels
        seat.named = job_of(labels, self._labels)
        seat.roles = roles_of(labels, self._labels)
        self.has_job_labels = self.has_job_labels or seat.named is not None

    def _note_use(
        self, node: NodeName, seat: Seat, second: int, origin: str, *, is_used: bool
    ) -> None:
        seat.seen_at = max(seat.seen_at, second)
        if seat.named is not None:
            seat.named_at, seat.named_by = second, origin
        if not is_used:
            seat.used_since = math.inf
            return
        seat.used_since = min(seat.used_since, second)
        self._host_used_at[node] = second

    def _settle(self, node: NodeName, place: Place, seat: Seat, second: int) -> None:
        self._move(node, place, seat, seat.named or self._without_label(node, seat, second))

    def _without_label(self, node: NodeName, seat: Seat, second: int) -> JobName | None:
        if seat.job not in (None, _EVERYBODY):
            is_recent = second - seat.named_at < self.settings.unlabelled_seconds
            return seat.job if is_recent else None
        if self.has_job_labels:
            return None
        if seat.job is None:
            return _EVERYBODY if seat.used_since <= second - self.settings.busy_seconds else None
        idle_for = second - self._host_used_at.get(node, -math.inf)
        return seat.job if idle_for < self.settings.idle_seconds else None

    def _move(self, node: NodeName, place: Place, seat: Seat, job: JobName | None) -> None:
        if job == seat.job:
            return
        if seat.job is not None:
            self._remember(seat.job, node)
            self._members[seat.job][node].discard(place)
            if not self._members[seat.job][node]:
                del self._members[seat.job][node]
        if job is not None:
            self._remember(job, node)
            self._members.setdefault(job, {}).setdefault(node, set()).add(place)
        seat.job = job
        self.version += 1
        present = {one.job for _, one in self._hosts[node].items() if one.job is not None}
        self._jobs_of_node[node] = tuple(sorted(present))

    def _remember(self, job: JobName, node: NodeName) -> None:
        self._was_member.setdefault((job, node), node in self._members.get(job, ()))
