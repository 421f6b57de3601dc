"""Which metric, in which direction, speaks against a rank, and for which fault."""

from __future__ import annotations

from dataclasses import dataclass

from paramedic.diagnosis.contract import Fault

WAITING_METRIC = "collective_seconds"
"""Time a rank waits for others: a culprit hardly waits, its victims do. Never an accusation."""

WORKING_METRIC = "compute_seconds"

UNACCOUNTED_METRIC = "unaccounted_seconds"
"""How much more than usual of a step has no name; nobody sends it, `unaccounted` works it out."""

LOADING_METRIC = "dataloader_seconds"
"""Time a rank waits for its batches: work of its own that may be another's fault."""


@dataclass(frozen=True, slots=True)
class Symptom:
    """A metric of a rank's own work that shows a fault by moving one way."""

    metric: str
    worse: int
    """+1 where more is worse, -1 where less is."""
    fault: Fault
    yardstick: str
    """The metric whose peers' level tells whether a difference matters to the job at all."""
    wording: str
    """How a summary says it, to be followed by how many times the peers'."""
    counts_ratio: float = 1.0
    """A slot counts at most so much of what one of another symptom may."""


SYMPTOMS = (
    Symptom(WORKING_METRIC, +1, Fault.STRAGGLER, WORKING_METRIC, "computes"),
    # A store that hesitates does so for some seconds, and everybody waits for that one batch.
    Symptom(LOADING_METRIC, +1, Fault.STRAGGLER, "step_seconds", "waits for data", 0.25),
    Symptom(
        UNACCOUNTED_METRIC, +1, Fault.STRAGGLER, "step_seconds",
        "holds each step up, beside what it computes and loads,",
    ),
)  # fmt: skip

STEP_METRIC = "step_seconds"
PARTS_OF_STEP = (WAITING_METRIC, *(symptom.metric for symptom in SYMPTOMS))
"""What a step is made of, where nobody tells how long it is."""
JUDGED_METRICS = frozenset({STEP_METRIC, *PARTS_OF_STEP, *(s.yardstick for s in SYMPTOMS)})
"""The rank metrics that a slot is judged by; no other is worth the model's time."""
UNSCORED_METRICS = JUDGED_METRICS - {WAITING_METRIC, *(symptom.metric for symptom in SYMPTOMS)}
"""Those of them that only tell what matters: nobody asks how odd they are."""
