"""Each setting arrives at the part that works with it, and at no other place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from paramedic.api.settings.reading import parse_assignment, read_settings
from paramedic.api.settings.schema import Settings
from paramedic.api.wiring.errors import PreflightError
from paramedic.api.wiring.kafka import kafka_settings
from paramedic.api.wiring.translation import (
    collect_config,
    diagnose_config,
    membership_rules,
    remediate_config,
)
from paramedic.diagnosis.contract import Severity
from paramedic.diagnosis.known_errors.entry import Kind
from paramedic.ingest.collect.errors import CollectSettingError
from paramedic.ingest.contract import Topic

PARTS: dict[str, Callable[[Settings], object]] = {
    "collect": collect_config,
    "diagnose": diagnose_config,
    "remediate": remediate_config,
    "launcher": membership_rules,
    "kafka": lambda settings: kafka_settings(settings, {}),
}


def read(*assignments: str) -> Settings:
    return read_settings(Path("/nonexistent"), {}, dict(map(parse_assignment, assignments)))


def changed(*assignments: str) -> set[str]:
    """The parts that notice these settings."""
    settings = read(*assignments)
    return {name for name, made in PARTS.items() if made(settings) != made(Settings())}


@pytest.mark.parametrize(
    ("assignment", "parts"),
    [
        ("job.ranks=7", {"launcher"}),
        ("job.spares=7", {"launcher"}),
        ("job.runs_folder=elsewhere", set()),
        ("recovery.elastic_retries=7", {"launcher"}),
        ("recovery.ready_timeout_seconds=7", {"launcher"}),
        ("recovery.start_timeout_seconds=7", {"launcher"}),
        ("recovery.target_seconds=7", {"remediate"}),
        ("recovery.replacements_per_hour=7", {"remediate"}),
        ("recovery.minimum_confidence_ratio=0.7", {"remediate"}),
        ("detection.window_seconds=70", {"diagnose"}),
        ("detection.lateness_seconds=2", {"diagnose"}),
        ("detection.heartbeat_timeout_seconds=7", {"diagnose"}),
        ("detection.failure_window_seconds=7000", {"diagnose"}),
        ("detection.failure_false_alarms_per_week=0.07", {"diagnose"}),
        ("detection.use_history_prior=yes", {"diagnose"}),
        ("detection.maintenance_settle_seconds=7", {"diagnose"}),
        ("collect.job_labels=team", {"collect"}),
        ("collect.role_labels=rack=r", {"collect"}),
        ("collect.settle_seconds=0.5", {"collect"}),
        ("collect.buffer_seconds=7", {"collect"}),
        ("collect.busy_seconds=7", {"collect"}),
        ("collect.idle_seconds=7", {"collect"}),
        ("collect.absent_seconds=700", {"collect"}),
        ("kafka.group=blue", {"diagnose"}),
        ("kafka.rewind_seconds=7", {"diagnose"}),
        ("kafka.commit_interval_seconds=7", {"diagnose"}),
        ("kafka.prefix=blue", {"kafka"}),
        ("kafka.partitions=7", {"kafka"}),
        ("kafka.compression=zstd", {"kafka"}),
        ("kafka.events_retention_seconds=700", {"kafka"}),
        ("kafka.verdicts_retention_seconds=700", {"kafka"}),
        ("kafka.dead_letter_retention_seconds=700", {"kafka"}),
        ("kafka.in_flight_limit_bytes=2000000", {"kafka"}),
        ("kafka.session_timeout_seconds=7", {"kafka"}),
        ("bus.connect_timeout_seconds=7", {"kafka"}),
        ("checkpoint.interval_seconds=7", set()),
        ("api.port=7", set()),
    ],
)
def test_a_setting_reaches_its_part_alone(assignment: str, parts: set[str]) -> None:
    assert changed(assignment) == parts


def test_a_nodes_and_an_early_silence_keep_their_share_of_the_time_out() -> None:
    silence = diagnose_config(read("detection.heartbeat_timeout_seconds=20")).detector.silence
    assert silence.heartbeat_timeout_seconds == 20.0
    assert silence.node_silence_seconds == pytest.approx(16.0)
    assert silence.early_silence_seconds == pytest.approx(6.0)


def test_a_file_of_known_errors_is_laid_over_what_ships(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[[xid]]\ncode = 79\nseverity = "P0"\n', encoding="utf-8")
    detector = diagnose_config(read(f"detection.known_errors_file={file}")).detector
    known = detector.known_errors.find(Kind.XID, 79)
    assert known is not None
    assert known.severity is Severity.P0


def test_a_file_of_known_errors_that_cannot_be_used_is_told_in_a_line(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[[xid]]\ncode = 79\nseverity = "P7"\n', encoding="utf-8")
    with pytest.raises(PreflightError, match=r"^detection\.known_errors_file: .*79: severity"):
        diagnose_config(read(f"detection.known_errors_file={file}"))


def test_each_topic_is_held_as_long_as_is_set() -> None:
    settings = read(
        "kafka.telemetry_retention_seconds=401", "kafka.events_retention_seconds=402",
        "kafka.verdicts_retention_seconds=403", "kafka.dead_letter_retention_seconds=404",
    )  # fmt: skip
    assert dict(kafka_settings(settings, {}).retention_seconds) == {
        Topic.TELEMETRY: 401.0,
        Topic.SLOTS: 401.0,
        Topic.EVENTS: 402.0,
        Topic.VERDICTS: 403.0,
        Topic.DEAD_LETTER: 404.0,
    }


def test_no_job_labels_means_that_none_is_looked_for() -> None:
    assert collect_config(read("collect.job_labels=none")).labels.job_labels == ()


def test_whoever_is_away_is_away_at_least_as_long_as_idle() -> None:
    with pytest.raises(CollectSettingError, match="idle_seconds"):
        collect_config(read("collect.idle_seconds=100", "collect.absent_seconds=99"))
    config = collect_config(read("collect.idle_seconds=100", "collect.absent_seconds=100"))
    assert config.tenancy.absent_seconds == config.tenancy.idle_seconds == 100.0
