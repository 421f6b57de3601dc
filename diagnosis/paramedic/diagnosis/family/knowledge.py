"""What is known of faults before anything is learned: symptoms, and which fault shows which."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paramedic.diagnosis.contract import Fault
    from paramedic.diagnosis.family.signature import Extent


class Direction(StrEnum):
    """Which way metrics depart in a symptom."""

    HIGHER = "higher"
    LOWER = "lower"
    NONE = "none"
    """It is no amount: absence, a stop, a driver's word."""


@dataclass(frozen=True, slots=True)
class Symptom:
    """A physical change that some metrics show, whatever their scale."""

    name: str
    usual: float
    """How often it is seen beside a fault that has nothing to do with it."""
    why: str
    direction: Direction = Direction.NONE
    metrics: tuple[str, ...] = ()
    """Any of them shows it."""
    follows_others: bool = False
    """It also follows from other troubles, so it counts for less beside larger departures."""


@dataclass(frozen=True, slots=True)
class Mechanism:
    """One way in which a fault shows: with which probability each symptom is seen."""

    name: str
    weight: float
    """Its share of its family."""
    why: str
    shows: Mapping[str, float]
    """Symptoms that are not here are as usual as they are everywhere."""
    hurts: float
    """How often it slows or stops the machine's work; 0: never."""
    follows: Mapping[str, float]
    """What is seen beside that when it does."""

    @property
    def ways(self) -> tuple[tuple[float, Mapping[str, float]], ...]:
        """How it may look, with weights: harmless, and with what follows from it."""
        harmless = (self.weight * (1.0 - self.hurts), self.shows)
        hurting = (self.weight * self.hurts, {**self.follows, **self.shows})
        return tuple(way for way in (harmless, hurting) if way[0] > 0.0)


@dataclass(frozen=True, slots=True)
class Family:
    """A fault family."""

    fault: Fault
    share: float
    """Of all faults, in months of production."""
    extents: Mapping[Extent, float]
    mechanisms: tuple[Mechanism, ...]


@dataclass(frozen=True, slots=True)
class Knowledge:
    """All of it; families and symptoms in the order of the file."""

    symptoms: tuple[Symptom, ...]
    families: tuple[Family, ...]
    digest: str
    """Of the file: coefficients that were fitted to other knowledge are refused."""

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The families' names, in order."""
        return tuple(family.fault for family in self.families)
