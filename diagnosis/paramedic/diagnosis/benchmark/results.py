"""What a detector made of an episode, as a line of JSON: every threshold's alarms, and the cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paramedic.ingest.contract import NodeName
from paramedic.models.detection import Alarm

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Result:
    """One detector, one episode."""

    episode: str
    detector: str
    alarms: Mapping[float, tuple[Alarm, ...]]
    """By threshold; none where the episode means nothing to the detector."""
    compute_seconds: float
    """Of the processor, to examine the history and to raise the alarms of all thresholds."""

    def to_json(self) -> dict[str, object]:
        """Plain JSON values; thresholds that raise the same alarms share them."""
        different = list(dict.fromkeys(self.alarms.values()))
        return {
            "episode": self.episode,
            "detector": self.detector,
            "compute_seconds": self.compute_seconds,
            "alarms": [[_alarm_to_json(alarm) for alarm in alarms] for alarms in different],
            "thresholds": [
                [threshold, different.index(alarms)] for threshold, alarms in self.alarms.items()
            ],
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Result:
        """What `to_json` wrote. Raises KeyError, TypeError, IndexError or ValueError for others."""
        different = [tuple(map(_alarm_from_json, alarms)) for alarms in fields["alarms"]]
        return cls(
            episode=fields["episode"],
            detector=fields["detector"],
            alarms={float(threshold): different[at] for threshold, at in fields["thresholds"]},
            compute_seconds=float(fields["compute_seconds"]),
        )


def _alarm_to_json(alarm: Alarm) -> list[object]:
    return [alarm.second, list(alarm.nodes), float(alarm.score), alarm.gpu, alarm.family]


def _alarm_from_json(fields: Any) -> Alarm:
    second, nodes, score, gpu, family = fields
    return Alarm(int(second), tuple(map(NodeName, nodes)), float(score), gpu, family)
