"""What an open group means for its members: which of their troubles are the group's, who joins."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Phase
from paramedic.diagnosis.finding import Trouble

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paramedic.diagnosis.contract import Verdict
    from paramedic.diagnosis.finding import Finding, Subject

_SHARED = (Trouble.ALIVE, Trouble.DEPARTED, Trouble.UNHEARD)
_APART = timedelta(seconds=60)
"""What began further apart has another cause."""


def goes_with(group: Verdict, one: Finding | Verdict, trouble: Trouble) -> bool:
    """Whether this is the group's trouble, and not the member's own.

    What has failed where the group has not, or failed before, is a member's own, and so is what one
    of its GPUs does later: what a group shares befalls whole nodes.
    """
    has_failed = one.phase is Phase.FAILED and group.phase is not Phase.FAILED
    if one.node not in group.members or trouble not in _SHARED or has_failed:
        return False
    decided = group.first_detected_at or group.detected_at
    is_own = one.onset < group.onset - _APART
    return not is_own and (one.gpu is None or one.onset <= decided + _APART)


def subject_among(open_ones: Iterable[Subject], finding: Finding) -> Subject:
    """Under which subject a finding is open, or will be: a group is known by its members.

    Of several groups that it has members of, the one with most of them.
    """
    if not finding.members:
        return finding.subject
    members = set(finding.members)
    shared = [one for one in open_ones if not members.isdisjoint(one.members)]
    return max(shared, key=lambda one: len(members & set(one.members)), default=finding.subject)


def is_of_failed_group(one: Finding | Verdict) -> bool:
    """Whether it says that a group has failed."""
    return bool(one.members) and one.phase is Phase.FAILED


def is_within(group: Verdict, one: Verdict) -> bool:
    """Whether one is another group, all of it in this."""
    return one.id != group.id and bool(one.members) and {*one.members} <= {*group.members}


def with_known(finding: Finding, known: Verdict) -> Finding:
    """The finding with all who were members before: in its life a group only grows."""
    return replace(finding, members=tuple(sorted({*known.members, *finding.members})))
