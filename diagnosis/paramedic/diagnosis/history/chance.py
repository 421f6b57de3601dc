"""By what chance a sound node has as many failures as one has: an exact test, from counts alone.

Sound nodes fail at random, at rates that differ a little (Gamma-distributed with a shape of
1 / unevenness²). Given how many failures the fleet has had in all, the counts of its nodes are then
Dirichlet-multinomial (Pólya's urn), whatever the fleet's rate is: a fleet that fails a lot accuses
nobody. We look when a node has just failed, so that failure itself is no evidence; by Mecke's
formula the expected number of looks with a chance of p or less is at most p times the number of
looks. A level of `false alarms / failures of the fleet` keeps to the stated rate of false alarms.

McElroy 2005 and Schroeder & Gibson 2006 (LANL) show why rates may not be taken for equal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Counts:
    """Failures in one window, the newest included, which is the node's."""

    node: int
    fleet: int
    """Of all nodes, this one included."""
    peers: float
    """Other nodes, each by its time in the window as a share of this node's."""

    @property
    def mean(self) -> float:
        """What a node has in the mean, at this node's time in the window."""
        return self.fleet / (self.peers + 1)


def chance(counts: Counts, unevenness: float) -> float:
    """The chance (0..1) that a sound node has so many failures or more beside its newest one.

    >>> round(chance(Counts(node=3, fleet=3, peers=63), 1e-3), 6), (1 / 64) ** 2
    (0.000244, 0.000244140625)
    """
    shape = 1 / unevenness**2
    others, before = counts.fleet - 1, counts.node - 1
    if counts.peers <= 0 or before <= 0:
        return 1.0
    ours, theirs = shape + 1, shape * counts.peers
    tail = (_urn(others, drawn, ours, theirs) for drawn in range(before, others + 1))
    return min(1.0, math.fsum(tail))


def rate_ratio(counts: Counts, unevenness: float) -> float:
    """The node's expected failure rate after its past, as a multiple of the fleet's.

    The posterior mean of a Gamma prior around the fleet's mean: without failures it is below 1, and
    near 1 as long as the fleet has had too few to tell nodes apart.

    >>> round(rate_ratio(Counts(node=0, fleet=10, peers=9), 0.5), 2)
    0.8
    """
    shape = 1 / unevenness**2
    return (shape + counts.node) / (shape + counts.mean)


def _urn(draws: int, ours: int, our_weight: float, their_weight: float) -> float:
    """The chance that so many of the draws from Pólya's urn are ours (beta-binomial)."""
    return math.exp(
        _log_choose(draws, ours)
        + _log_beta(our_weight + ours, their_weight + draws - ours)
        - _log_beta(our_weight, their_weight)
    )


def _log_choose(total: int, chosen: int) -> float:
    return math.lgamma(total + 1) - math.lgamma(chosen + 1) - math.lgamma(total - chosen + 1)


def _log_beta(one: float, other: float) -> float:
    return math.lgamma(one) + math.lgamma(other) - math.lgamma(one + other)
