"""Whether a difference is large enough to act on, however surely it is one.

With enough evidence a machine that does one per cent less is odd beyond doubt, and nobody's
problem. So what a machine does for the job has to differ from its peers in the mean over all the
time since evidence began; errors, latencies and temperatures matter as they are.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.recent import recent_low, recent_means
from paramedic.models.departure.character import OF_WORK, About, character_of
from paramedic.models.leave_one_out import median_over_time

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.diagnosis.departure import Departure
    from paramedic.ingest.contract import Window

LEAST_SHARE = 0.05
"""Of what is done, or of a step's time: less than that costs nobody anything."""
_LEAST_SURPLUS = 0.15
"""Who does so much more of its work than its peers cannot be doing the same; of less, nobody has
less."""
LEAST_FALL = 0.03
"""Of a clock: chips of one kind are run within a step or two of each other."""
_TELLING_SHARE = 0.5
"""Metrics that say so much of what the first of them says tell what is lost."""
GOOD_PART = 0.4
"""So much of what is said has to be said by what differs enough."""
_LEAST_ACTIVITY = 0.005
"""A unit of the chip that is active so little longer or shorter changes nothing."""
_FEWEST_SECONDS = 6
_LATELY_SECONDS = 30
_KEPT = 1 / 3
_MOSTLY = 0.9


def is_material(window: Window, departure: Departure) -> bool:
    """Whether what says most of it differs by so much that somebody should look."""
    return material_share(window, departure) >= GOOD_PART


def material_share(window: Window, departure: Departure) -> float:
    """How much of what is said is said by metrics that differ so much.

    Of many metrics one or the other differs by chance: those that do have to say a good part. All
    of it where errors, latencies, temperatures or memory say more than a little. Where samples are
    seconds apart, each node's are taken elsewhere in a step: a difference of some of them has to
    be one lately, too.
    """
    of_use = (*OF_WORK, About.USAGE, About.CLOCK, About.CONGESTION)
    if departure.share_of(*of_use) < _MOSTLY:
        return 1.0
    differences = _differences(window, departure, of_use, departure.seconds)
    if window.slot_seconds > 1:
        lately = _differences(window, departure, of_use, _LATELY_SECONDS)
        differences = {
            metric: min(one, lately[metric], key=abs) for metric, one in differences.items()
        }
    said = sum(departure.weights[metric] for metric in differences)
    counts = (
        departure.weights[metric]
        for metric, difference in differences.items()
        if _is_large(metric, difference)
    )
    return sum(counts) / said if said else 0.0


def is_past(window: Window, departure: Departure, seconds: float) -> bool:
    """Whether nothing is to be seen for so long of what it has done more or less of in the mean.

    Only of what machines do all the time: errors come one by one.
    """
    matters = (*OF_WORK, About.CLOCK)
    if departure.seconds < 2 * seconds or departure.share_of(*matters) < _MOSTLY:
        return False
    whole = _differences(window, departure, matters, departure.seconds)
    slots = max(1, math.ceil(seconds / window.slot_seconds))
    lately = _differences(window, departure, matters, slots * window.slot_seconds, fewest=slots)
    whole = {metric: one for metric, one in whole.items() if abs(one) >= LEAST_FALL}
    return bool(whole) and all(abs(lately[one]) < _KEPT * abs(whole[one]) for one in whole)


def lost_seconds(window: Window, departure: Departure) -> float:
    """How much work has been lost since evidence began, were all of the difference a loss.

    Of a difference that costs nobody anything nothing adds up, however long it lasts.
    """
    largest = max(
        map(abs, _differences(window, departure, OF_WORK, departure.seconds).values()), default=0.0
    )
    return min(1.0, largest) * departure.seconds if largest >= LEAST_SHARE else 0.0


def times_slower_disk(window: Window, departure: Departure) -> float:
    """How many times as long as its peers' its disks take to answer; 1 where that says little."""
    times = _differences(window, departure, (About.DISK,), departure.seconds)
    return 1 + max(times.values(), default=0.0)


def _is_large(metric: str, difference: float) -> bool:
    known = character_of(metric)
    about = About.WORK if known is None else known.about
    least = LEAST_FALL if about is About.CLOCK else LEAST_SHARE
    most = LEAST_SHARE if about is About.USAGE else _LEAST_SURPLUS
    return difference <= -least or difference >= most


def _differences(
    window: Window,
    departure: Departure,
    matters: tuple[About, ...],
    seconds: int,
    fewest: int = _FEWEST_SECONDS,
) -> dict[str, float]:
    """Of the means over so long, of telling metrics, as shares of the peers' level.

    Whoever waits clocks up for as long, so who never waits has the lowest clock in the mean and is
    not throttled: of clocks the low ones are compared as well, which all have at work.
    """
    slots = max(1, max(seconds, fewest) // window.slot_seconds)
    own = window.rows.index(departure.row)
    peers = np.array([row.node != departure.node for row in window.rows], np.bool_)
    least = _TELLING_SHARE * max(departure.weights.values(), default=0.0)
    found = {}
    for metric in departure.loud:
        known = character_of(metric)
        if departure.weights[metric] < least or known is None or known.about not in matters:
            continue
        least_difference = _LEAST_ACTIVITY if metric.endswith("_ratio") else 0.0
        levels = [recent_means(window, metric, slots, own)]
        if known.about is About.CLOCK:
            levels.append(recent_low(window, metric, slots, own))
        shares = (_share_between(level, own, peers, least_difference) for level in levels)
        found[metric] = min(shares, key=abs)
    return found


def _share_between(
    levels: NDArray[np.float64], own: int, peers: NDArray[np.bool_], least: float
) -> float:
    """As a share of the peers' level; infinite where they do nothing of the kind."""
    mine, others = levels[own], levels[peers]
    usual = float(median_over_time(others)) if np.isfinite(others).any() else np.nan
    # A unit that hardly works may differ by a large share of nearly nothing.
    if not np.isfinite(mine) or not np.isfinite(usual) or abs(mine - usual) < least:
        return 0.0
    return float(mine / usual - 1) if usual else np.inf
