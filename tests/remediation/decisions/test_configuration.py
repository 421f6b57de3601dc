"""Settings that cannot be used fail when they are made, and say what to choose."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from paramedic.remediation.configuration import (
    ControllerSettings,
    PolicySettings,
    RemediateConfig,
    RemediationSettingError,
)


def test_the_defaults_hold() -> None:
    config = RemediateConfig()
    assert config.policy.replacements_per_hour == 3
    assert not config.policy.dry_run


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: PolicySettings(minimum_confidence=1.1), "minimum_confidence is 1.1"),
        (lambda: PolicySettings(replacements_per_hour=-1), "replacements_per_hour is -1"),
        (lambda: ControllerSettings(first_retry_seconds=40.0), "first_retry_seconds is 40.0"),
        (lambda: ControllerSettings(effect_timeout_seconds=0.0), "effect_timeout_seconds"),
        (lambda: RemediateConfig(poll_seconds=0.3), "at most 0.2"),
        (lambda: RemediateConfig(review_seconds=0.0), "review_seconds is 0.0"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(make: Callable[[], object], says: str) -> None:
    with pytest.raises(RemediationSettingError, match=says):
        make()
