"""From our settings to the configurations of the parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.api.wiring.errors import PreflightError
from paramedic.api.wiring.kafka import group_of
from paramedic.api.wiring.known_errors import known_errors_in

if TYPE_CHECKING:
    from paramedic.api.settings.schema import Settings
    from paramedic.diagnosis.service import DiagnoseConfig
    from paramedic.ingest.collect.configuration import CollectConfig
    from paramedic.remediation.configuration import RemediateConfig
    from paramedic.remediation.launchers.local.commands import MembershipRules

_NODE_SILENCE_SHARE = 0.8
_EARLY_SILENCE_SHARE = 0.3


def collect_config(settings: Settings) -> CollectConfig:
    """How collect finds jobs and puts batches together.

    Raises PreflightError or CollectSettingError for labels and times that cannot be used.
    """
    from paramedic.ingest.collect.configuration import (
        CollectConfig,
        LabelSettings,
        TenancySettings,
    )

    collect = settings.collect
    return CollectConfig(
        labels=LabelSettings(
            job_labels=_names(collect.job_labels), role_labels=_pairs(collect.role_labels)
        ),
        tenancy=TenancySettings(
            busy_seconds=collect.busy_seconds,
            idle_seconds=collect.idle_seconds,
            absent_seconds=collect.absent_seconds,
        ),
        settle_seconds=collect.settle_seconds,
        buffer_seconds=collect.buffer_seconds,
    )


def diagnose_config(settings: Settings) -> DiagnoseConfig:
    """How diagnosis judges. A node's and an early silence keep their share of the time-out.

    Raises PreflightError when the file of known errors cannot be used.
    """
    from paramedic.diagnosis.application.settings import ApplicationSettings
    from paramedic.diagnosis.detector import DetectorConfig
    from paramedic.diagnosis.history.settings import HistorySettings
    from paramedic.diagnosis.maintenance.plan import MaintenanceSettings
    from paramedic.diagnosis.service import DiagnoseConfig
    from paramedic.diagnosis.settings import (
        DepartureSettings,
        SilenceSettings,
        StragglerSettings,
    )
    from paramedic.ingest.windows.configuration import WindowConfig

    detection, kafka = settings.detection, settings.kafka
    timeout = detection.heartbeat_timeout_seconds
    return DiagnoseConfig(
        group=group_of(settings),
        rewind_seconds=detection.window_seconds + detection.lateness_seconds + kafka.rewind_seconds,
        commit_seconds=kafka.commit_interval_seconds,
        detector=DetectorConfig(
            windows=WindowConfig(
                window_seconds=detection.window_seconds,
                lateness_seconds=detection.lateness_seconds,
            ),
            silence=SilenceSettings(
                heartbeat_timeout_seconds=timeout,
                node_silence_seconds=_NODE_SILENCE_SHARE * timeout,
                early_silence_seconds=_EARLY_SILENCE_SHARE * timeout,
            ),
            straggler=StragglerSettings(
                false_alarms_per_job_day=detection.false_alarms_per_job_day
            ),
            departure=DepartureSettings(
                false_alarms_per_job_day=detection.false_alarms_per_job_day
            ),
            application=ApplicationSettings(
                false_alarms_per_job_day=detection.false_alarms_per_job_day
            ),
            known_errors=known_errors_in(settings),
            history=HistorySettings(
                window_seconds=detection.failure_window_seconds,
                false_alarms_per_week=detection.failure_false_alarms_per_week,
                use_prior=detection.use_history_prior == "yes",
            ),
            maintenance=MaintenanceSettings(settle_seconds=detection.maintenance_settle_seconds),
        ),
    )


def remediate_config(settings: Settings, *, observe_only: bool = False) -> RemediateConfig:
    """How remediation acts; not at all where it only observes."""
    from paramedic.remediation.configuration import (
        ControllerSettings,
        PolicySettings,
        RemediateConfig,
    )

    recovery = settings.recovery
    return RemediateConfig(
        policy=PolicySettings(
            dry_run=observe_only,
            minimum_confidence=recovery.minimum_confidence_ratio,
            replacements_per_hour=recovery.replacements_per_hour,
        ),
        controller=ControllerSettings(effect_timeout_seconds=recovery.target_seconds),
    )


def membership_rules(settings: Settings) -> MembershipRules:
    """How large the job is and how far recovery goes."""
    from paramedic.remediation.launchers.local.commands import MembershipRules

    return MembershipRules(
        ranks=settings.job.ranks,
        spares=settings.job.spares,
        max_recoveries_without_progress=settings.recovery.elastic_retries,
        ready_timeout_seconds=settings.recovery.ready_timeout_seconds,
        start_timeout_seconds=settings.recovery.start_timeout_seconds,
    )


def _names(listed: str) -> tuple[str, ...]:
    """The names of a list with commas; `none` is an empty one."""
    names = tuple(name.strip() for name in listed.split(","))
    return () if names == ("none",) else names


def _pairs(listed: str) -> dict[str, str]:
    pairs = [name.partition("=") for name in _names(listed)]
    if wrong := [role for role, equals, label in pairs if not (role and equals and label)]:
        raise PreflightError(
            f"collect.role_labels = {listed!r}: {wrong[0]!r} is no ROLE=LABEL, such as switch=leaf"
        )
    return {role.strip(): label.strip() for role, _, label in pairs}
