"""From our settings to the configurations of the parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paramedic.api.settings.schema import Settings
    from paramedic.diagnosis.service import DiagnoseConfig
    from paramedic.remediation.configuration import RemediateConfig
    from paramedic.remediation.launchers.local.commands import MembershipRules

_NODE_SILENCE_SHARE = 0.8
_EARLY_SILENCE_SHARE = 0.4


def diagnose_config(settings: Settings) -> DiagnoseConfig:
    """How diagnosis judges. A node's and an early silence keep their share of the time-out."""
    from paramedic.diagnosis.detector import DetectorConfig
    from paramedic.diagnosis.service import DiagnoseConfig
    from paramedic.diagnosis.settings import SilenceSettings
    from paramedic.ingest.windows.configuration import WindowConfig

    detection = settings.detection
    timeout = detection.heartbeat_timeout_seconds
    return DiagnoseConfig(
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
        )
    )


def remediate_config(settings: Settings) -> RemediateConfig:
    """How remediation acts."""
    from paramedic.remediation.configuration import (
        ControllerSettings,
        PolicySettings,
        RemediateConfig,
    )

    recovery = settings.recovery
    return RemediateConfig(
        policy=PolicySettings(
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
    )
