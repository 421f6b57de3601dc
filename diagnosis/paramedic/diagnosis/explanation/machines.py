"""How the evidence stands that a machine departs from its peers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.diagnosis.beginnings import WITHIN_A_NODE_SECONDS
from paramedic.diagnosis.contract import Tier
from paramedic.diagnosis.excuses import Hold
from paramedic.diagnosis.explanation.account import holds_of_row
from paramedic.diagnosis.explanation.gates import why_not_compared
from paramedic.diagnosis.explanation.standing import Standing
from paramedic.diagnosis.finding import moment
from paramedic.diagnosis.host_support import with_hosts
from paramedic.diagnosis.node_evidence import SUSPECT
from paramedic.ingest.contract import Entity, EntityKey

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paramedic.diagnosis.machines import MachineWatch
    from paramedic.diagnosis.picture import JobPicture
    from paramedic.diagnosis.rows_test import RowsTest
    from paramedic.ingest.contract import NodeName, Window

_KIND = "departure"


def of_machine(
    node: NodeName,
    watch: MachineWatch,
    picture: JobPicture,
    second: int | None,
    windows: Mapping[Entity, Window] | None = None,
    *,
    is_named: bool = False,
) -> Iterator[Standing]:
    """The evidence against the node and its GPUs, and what keeps it from deciding.

    `windows`: what was told until now; `is_named`: a verdict says already that it does not work as
    it should, so that no reason why it is spared holds.
    """
    windows = {} if windows is None else windows
    gates = tuple(_gates(watch, picture, second, windows.get(Entity.GPU)))
    found = [
        _unheard(row, gates, window)
        if (window := windows.get(row.entity)) is not None and _is_unheard(row, window)
        else _of_row(test, at, watch, gates, is_named=is_named)
        for test in watch.departures.tests.values()
        for at, row in enumerate(test.evidence.rows)
        if row.node == node
    ]
    if not found:
        key, note = EntityKey(Entity.NODE, node), "" if gates else "nothing of it was compared yet"
        yield Standing(key, Tier.PATTERN, _KIND, None, None, note=note, holds=gates)
    yield from found


def _gates(
    watch: MachineWatch, picture: JobPicture, second: int | None, cards: Window | None
) -> Iterator[Hold]:
    """What keeps all machines from being compared."""
    gate = why_not_compared(picture, second, watch.settings)
    if gate is not None:
        yield gate
    elif cards is not None and not cards.rows:
        yield Hold("no GPU of the job tells anything, and without them machines are not compared")
    elif cards is not None and watch.has_stood(cards):
        yield Hold("the job stands still, and how machines idle says nothing of them")
    elif watch.is_alone:
        yield Hold("all its peers have ended, failed or left: beside them everybody looks odd")


def _is_unheard(row: EntityKey, window: Window) -> bool:
    return row not in window.rows or not window.observed[window.rows.index(row)].any()


def _unheard(row: EntityKey, gates: tuple[Hold, ...], window: Window) -> Standing:
    seconds = len(window.seconds) * window.slot_seconds
    note = f"it has told no value in the last {seconds} s"
    return Standing(row, Tier.PATTERN, _KIND, None, None, note=note, holds=gates)


def _of_row(
    test: RowsTest, at: int, watch: MachineWatch, gates: tuple[Hold, ...], *, is_named: bool
) -> Standing:
    evidence, row = test.evidence, test.evidence.rows[at]
    strength, level = float(evidence.strength[at]), float(evidence.levels[evidence.pace_of(at)])
    note, joint, apart = _of_host(watch, at) if row.entity is Entity.GPU else ("", strength, ())
    excuse = watch.departures.excuses.of(row.node, watch.weighed)
    is_spared = excuse is not None and not is_named and max(strength, joint) >= 1
    return Standing(
        row,
        Tier.PATTERN,
        _KIND,
        strength * level,
        level,
        since=moment(evidence.since(at)) if strength > 0 else None,
        note=note,
        unit="nats",
        holds=(
            *gates,
            *((excuse,) if is_spared and excuse is not None else ()),
            *(() if gates or is_named else holds_of_row(test, at, watch.weighed)),
            *apart,
        ),
    )


def _of_host(watch: MachineWatch, at: int) -> tuple[str, float, tuple[Hold, ...]]:
    """What its host adds to the evidence against a suspected card: in words, the strength of both,
    and why it adds nothing."""
    cards, hosts = (watch.departures.tests[kind].evidence for kind in (Entity.GPU, Entity.NODE))
    own = float(cards.strength[at])
    places = {row.node: place for place, row in enumerate(hosts.rows)}
    host = places.get(cards.rows[at].node)
    if own < SUSPECT or host is None or not hosts.strength[host] > 0:
        return "", own, ()
    joint = float(with_hosts(cards, hosts)[at])
    if joint > own:
        return f"with what speaks against its host it is {joint:.0%} of what decides", joint, ()
    apart = abs(hosts.since(host) - cards.since(at))
    if apart <= WITHIN_A_NODE_SECONDS or own >= 1:
        return "", own, ()
    words = "what speaks against its host began too far apart to be of one cause with it"
    return "", own, (Hold(words, float(apart), WITHIN_A_NODE_SECONDS, "s"),)
