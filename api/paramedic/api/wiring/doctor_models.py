"""What doctor says of the pattern model: whether it fits what arrives, and what has drifted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from paramedic.api.wiring.models import found_model
from paramedic.api.wiring.telling import say, tell, tell_lines
from paramedic.api.wiring.wording import counted
from paramedic.ingest.contract import Entity
from paramedic.ingest.doctor.checks import Check, Level, Report
from paramedic.ingest.doctor.telling import lines_of
from paramedic.models.default.shipped import is_shipped
from paramedic.models.drift.reference import Quantity
from paramedic.models.registry.fit import fit_of
from paramedic.models.registry.registry import Registry

if TYPE_CHECKING:
    from paramedic.ingest.doctor.examination import Examination
    from paramedic.models.drift.report import DriftReport, MetricDrift
    from paramedic.models.pattern.artifact import PatternArtifact
    from paramedic.models.registry.fit import Fit
    from paramedic.models.registry.manifest import Manifest

_SUBJECT = "pattern model"
_DRIFT = "drift"
_WORDS = {
    Quantity.INPUT: "of its distances from the peers",
    Quantity.SCORE: "of what the model makes of it",
}


@dataclass(frozen=True, slots=True)
class DriftRequest:
    """Recordings that are compared with what a model was trained on."""

    recordings: Sequence[Path]
    model: str | None
    """A version, a folder, `shipped`; None: the model in use."""
    folder: Path
    """The current folder; relative paths start there."""
    registry: Path


def look_at_drift(request: DriftRequest, as_json: bool, stdout: TextIO, stderr: TextIO) -> int:
    """Say what has drifted; that is a warning and no failure.

    Raises RecordingError, ModelError or InputError.
    """
    from paramedic.models.drift.histories import drift_of
    from paramedic.models.histories.recorded import histories_of

    artifact, manifest = found_model(Registry(request.registry), request.model, request.folder)
    say(stderr, f"looking at {', '.join(map(str, request.recordings))}")
    histories = [
        history for path in request.recordings for history in histories_of(request.folder / path)
    ]
    drift = drift_of(artifact, histories)
    report = _report(drift, manifest)
    if as_json:
        tell(stdout, json.dumps(report.to_dict()) + "\n")
    else:
        tell_lines(stderr, lines_of(report, _headline(drift)))
    return 0


def model_checks(registry_folder: Path, seen: Examination) -> Iterator[Check]:
    """How the model in use fits what exporters give; nothing where there is no model.

    What ranks say comes from the training itself, and is not missed here. Raises ModelError.
    """
    registry = Registry(registry_folder)
    version = registry.production()
    if version is None and not is_shipped():
        return
    artifact, _ = found_model(registry, None, registry_folder)
    told = Level.OK if version is None else Level.WARNING
    yield from _fit_checks(_fit_of_exporters(artifact, seen), told)


def _fit_of_exporters(artifact: PatternArtifact, seen: Examination) -> Fit:
    there = seen.coverage.metrics(Entity.GPU) | seen.coverage.metrics(Entity.NODE)
    catalogue = seen.catalogue.metrics
    fit = fit_of(artifact, there)
    missing = (one for one in fit.missing if one in catalogue)
    of_exporters = tuple(one for one in missing if catalogue[one].entity is not Entity.RANK)
    return type(fit)(fit.usable, of_exporters, fit.new)


def _fit_checks(fit: Fit, level: Level) -> Iterator[Check]:
    for remark in fit.remarks:
        yield Check(_SUBJECT, level, remark)
    if fit.is_whole:
        text = f"all {counted(len(fit.usable), 'metric')} that it was trained on arrive"
        yield Check(_SUBJECT, Level.OK, text)


def _report(drift: DriftReport, manifest: Manifest) -> Report:
    checks = [*_fit_checks(drift.fit, Level.WARNING)]
    checks += [Check(_DRIFT, Level.WARNING, _said(one)) for one in drift.drifted]
    alike = len(drift.metrics) - len(drift.drifted)
    if alike:
        checks.append(Check(_DRIFT, Level.OK, f"{counted(alike, 'distribution')} as in training"))
    seen = f"{drift.seconds} s against {manifest.name}, made {manifest.created}"
    return Report(_facts(drift, manifest), seen, tuple(checks))


def _said(one: MetricDrift) -> str:
    return (
        f"{one.metric}: {100 * one.distance:.0f} % {_WORDS[one.quantity]} lie elsewhere than in "
        f"training ({100 * one.margin:.0f} % may be chance, {counted(one.samples, 'value')})"
    )


def _headline(drift: DriftReport) -> str:
    if not drift.metrics:
        return "nothing can be compared: too short, or too few machines"
    if not drift.drifted:
        return f"nothing has drifted, of {counted(len(drift.metrics), 'distribution')}"
    which = counted(len(drift.drifted), "distribution")
    return (
        f"{which} of {len(drift.metrics)} drifted: train anew if they stay so "
        "(paramedic train RECORDING... --out MODEL)"
    )


def _facts(drift: DriftReport, manifest: Manifest) -> dict[str, object]:
    return {
        "model": {"name": manifest.name, "version": manifest.version or None},
        "first_second": drift.first_second,
        "seconds": drift.seconds,
        "missing": list(drift.fit.missing),
        "new": list(drift.fit.new),
        "drift": [
            {
                "metric": one.metric,
                "quantity": one.quantity.value,
                "distance": round(one.distance, 4),
                "margin": round(one.margin, 4),
                "samples": one.samples,
                "drifted": one.has_drifted,
            }
            for one in drift.metrics
        ],
    }
