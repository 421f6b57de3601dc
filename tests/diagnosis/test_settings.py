"""Settings that contradict each other are refused when they are built."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from paramedic.diagnosis.settings import SilenceSettings, StragglerSettings


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (lambda: SilenceSettings(early_silence_seconds=11), "early_silence_seconds"),
        (lambda: SilenceSettings(early_silence_seconds=0), "early_silence_seconds"),
        (lambda: SilenceSettings(node_silence_seconds=11), "node_silence_seconds"),
        (lambda: StragglerSettings(false_alarms_per_job_day=0), "false_alarms_per_job_day"),
        (lambda: StragglerSettings(allowance=7), "allowance"),
        (lambda: StragglerSettings(noise_correlation=1.0), "noise_correlation"),
    ],
)
def test_the_message_names_the_setting(wrong: Callable[[], object], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        wrong()


def test_the_documented_defaults_hold() -> None:
    assert SilenceSettings().heartbeat_timeout_seconds == 10
