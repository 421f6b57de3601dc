"""Nodes that fall silent together: when they share a switch, a rack or a stage, that has failed.

Whoever finds a node silent, by its heart-beats, its rows, or the ends of other processes, is asked
here who else has fallen silent then. Each says it of one node, and the first a second before the
next; nobody of a group is accused alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Fault, Phase, Tier
from paramedic.diagnosis.finding import FEWEST_MEMBERS
from paramedic.diagnosis.group_words import finding_of_silence
from paramedic.diagnosis.grouping import DomainKind, Group

if TYPE_CHECKING:
    from collections.abc import Collection

    from paramedic.diagnosis.contract import Verdict
    from paramedic.diagnosis.finding import Finding
    from paramedic.diagnosis.picture import JobPicture
    from paramedic.diagnosis.roles import JobRoles
    from paramedic.diagnosis.sight import JobSight
    from paramedic.ingest.contract import NodeName

_OF_SILENCE = (Fault.MACHINE_UNREACHABLE, Fault.HANG, Fault.TELEMETRY_LOST)
_AT_ONCE_SECONDS = 10
_SHARE = 0.8
"""Of a domain's nodes, and of those that fell silent, the members are so many (formats, section
3)."""
_SECONDS_TO_BE_BACK = 3
_KINDS = tuple(DomainKind)


def at_once(second: float, other: float) -> bool:
    """Whether what began then and then can have one cause."""
    return abs(second - other) <= _AT_ONCE_SECONDS


@dataclass(frozen=True, slots=True)
class SilentTogether:
    """Looks for the group of a silent node in what is known of the job."""

    sight: JobSight
    roles: JobRoles
    picture: JobPicture

    def joined(self, finding: Finding) -> Finding:
        """What befalls the group of a node that was found silent; the finding itself otherwise."""
        node = finding.node
        if node is None or finding.tier is not Tier.HEARTBEAT or finding.fault not in _OF_SILENCE:
            return finding
        departed = self.picture.departed
        here = {one: at for one, at in self.sight.nodes.items() if one not in departed}
        claimed = (finding.detected_at - finding.onset).total_seconds()
        silent = _silent_with(node, here, self.sight.head - claimed / 2)
        group = self._group(node, silent, here)
        if group is None:
            return finding
        seconds = self.sight.head - int(group.since)
        return finding_of_silence(group, finding, seconds, len(here) - len(silent))

    def is_over(self, group: Verdict, *, is_moving: bool) -> bool:
        """Whether a group that fell silent is heard of again, and a job that stood goes on."""
        if group.tier is not Tier.HEARTBEAT or not (is_moving or group.phase is not Phase.FAILED):
            return False
        newest = min(self.sight.nodes.get(node, 0) for node in group.members)
        decided = group.detected_at.timestamp()
        return newest >= max(decided + _SECONDS_TO_BE_BACK, self.sight.head - _AT_ONCE_SECONDS)

    def _group(
        self, node: NodeName, silent: dict[NodeName, int], here: dict[NodeName, int]
    ) -> Group | None:
        """Whose nodes, nearly all of them, these nearly all are: the smallest such domain."""
        if len(silent) < FEWEST_MEMBERS:
            return None
        since = min(silent.values())
        present = {one for one, at in here.items() if at >= since - _AT_ONCE_SECONDS}
        found = [
            (len(nodes), _KINDS.index(domain.kind), domain)
            for domain, nodes in self.roles.domains(present).items()
            if node in nodes and _is_nearly_all(nodes, silent) and len(nodes) < len(present)
        ]
        if not found:
            return None
        domain = min(found)[-1]
        members = tuple(sorted(self.roles.domains(silent)[domain]))
        return Group(domain, members, float(min(silent[one] for one in members)))


def _silent_with(node: NodeName, heard: dict[NodeName, int], latest: float) -> dict[NodeName, int]:
    """Who was not heard later than that, the node among them, nor since about when it was last;
    nobody where the node itself was."""
    since = heard.get(node, math.inf)
    if since > latest:
        return {}
    return {one: at for one, at in heard.items() if at <= latest and at_once(at, since)}


def _is_nearly_all(nodes: Collection[NodeName], silent: Collection[NodeName]) -> bool:
    """Whether these are hardly anybody else than the silent, and the silent than these."""
    shared = len({*nodes} & {*silent})
    return shared >= max(FEWEST_MEMBERS, _SHARE * len(nodes), _SHARE * len(silent))
