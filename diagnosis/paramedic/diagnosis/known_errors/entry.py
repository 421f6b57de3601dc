"""One known error, and all of them: what a code means and what NVIDIA says has to be done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from paramedic.diagnosis.contract import Fault, Phase, RecommendedAction, Severity


class Kind(StrEnum):
    """Where an error is told; the tables of the file."""

    XID = "xid"
    """The GPU's driver, in the kernel log or through an exporter."""
    SXID = "sxid"
    """The NVSwitch's driver."""
    RECOVERY_ACTION = "recovery_action"
    """What the driver asks for: `gpu_recovery_action`, and the text of Xid 154."""
    METRIC = "metric"
    """A state or a counter among the telemetry of a GPU."""


class Cause(StrEnum):
    """Who is to blame as a rule; how sure an accusation of the machine is follows from it."""

    HARDWARE = "hardware"
    """The GPU, its memory, a link or a switch."""
    DRIVER = "driver"
    """Firmware or driver, or hardware that looks like it."""
    APPLICATION = "application"
    """The program that ran; the GPU is well as a rule."""
    NOTICE = "notice"
    """Nobody: something is told, and nothing has failed."""


CONFIDENCE = {
    Cause.HARDWARE: 0.97,
    Cause.DRIVER: 0.92,
    Cause.APPLICATION: 0.5,
    Cause.NOTICE: 0.5,
}
"""How sure it is that the machine is at fault; below 0.9 nothing is touched by default."""


class Concern(StrEnum):
    """How far an error reaches."""

    GPU = "gpu"
    NODE = "node"
    JOB = "job"
    """The program, wherever it ran."""


class Rule(StrEnum):
    """How a metric tells an error."""

    REACHES = "reaches"
    """The newest value is `at_least` so much; it is over when the value is below."""
    GROWS = "grows"
    """The counter has grown by `at_least` so much since it was quiet."""


@dataclass(frozen=True, slots=True)
class KnownError:
    """What one code or rule means."""

    kind: Kind
    key: str
    """The code, or the name of the rule."""
    name: str
    """What has happened, in words that follow on from "Xid 79: "."""
    meaning: str
    """What it means, in a line."""
    cause: Cause
    concerns: Concern
    fault: Fault
    nvidia: str
    """What NVIDIA says has to be done: at once, then to find out why."""
    action: RecommendedAction
    severity: Severity | None
    """None: it is told beside other evidence and never acts by itself."""
    source: str
    phase: Phase = Phase.SYMPTOM
    severity_if: Mapping[str, Severity | None] = field(default_factory=dict)
    """Other severities, by the word for it in the driver's own line (`fatal`, `nonfatal`, …)."""
    metric: str | None = None
    rule: Rule = Rule.REACHES
    at_least: float = 1.0

    def severity_for(self, word: object) -> Severity | None:
        """How grave it is when the driver's line calls it so."""
        return self.severity_if.get(word, self.severity) if isinstance(word, str) else self.severity


@dataclass(frozen=True, slots=True)
class KnownErrors:
    """Everything that is known."""

    entries: Mapping[tuple[Kind, str], KnownError]

    def find(self, kind: Kind, code: object) -> KnownError | None:
        """What is known of this code; None for one that is not known, or is no whole number."""
        is_number = isinstance(code, int) and not isinstance(code, bool)
        return self.entries.get((kind, str(code))) if is_number else None

    def rules(self) -> tuple[KnownError, ...]:
        """The rules for metrics, in the order of the file."""
        return tuple(one for one in self.entries.values() if one.kind is Kind.METRIC)
