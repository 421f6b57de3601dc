"""What settings refuse: each refusal says the place, the key, the value and the remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from paramedic.api.settings.errors import (
    SettingConflictError,
    SettingsError,
    SettingsFileError,
    SettingValueError,
    UnknownSettingError,
)
from paramedic.api.settings.reading import parse_assignment, read_settings
from paramedic.api.settings.schema import Settings, known_settings
from paramedic.api.settings.values import wanted

NOWHERE = Path("/nonexistent")
OPEN = (
    "api.host = '0.0.0.0': only loopback addresses are allowed until API keys can be "
    "configured; use 127.0.0.1 and a tunnel"
)
KAFKA = "bus.address=kafka://one:9092"


def read(*assignments: str) -> Settings:
    return read_settings(NOWHERE, {}, dict(map(parse_assignment, assignments)))


def refused(folder: Path, text: str) -> str:
    """What is said about a file with this content, without the file's name."""
    path = folder / "paramedic.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        read_settings(folder, {}, {})
    place, _, rest = str(caught.value).partition(": ")
    assert place == str(path)
    return rest


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[api]\nport = 70000\n",
         "api.port = 70000: needs a whole number from 0 to 65535 (default 8370)"),
        ("[api]\nport = true\n",
         "api.port = True: needs a whole number from 0 to 65535 (default 8370)"),
        ('[bus]\naddress = ""\n', "bus.address = '': needs a text (default 'embedded')"),
        ("[checkpoint]\ninterval_seconds = 0\n",
         "checkpoint.interval_seconds = 0: needs a number from 1 to 604800 (default 7200.0)"),
        ("[job]\nrank = 3\n", "job.rank: no such setting; did you mean job.ranks?"),
        ("[jobs]\nranks = 3\n", "jobs: no such setting; did you mean job?"),
        ("[zzz]\n", "zzz: no such setting; docs/settings.md lists what there is"),
        ("job = 3\n", "job = 3: write it as [job]"),
        ('[api]\nhost = "0.0.0.0"\n',
         OPEN),
        ('[bus]\naddress = "redis://x"\n',
         "bus.address = 'redis://x': needs embedded, kafka or kafka://HOST:PORT"),
        ('[kafka]\ncompression = "brotli"\n',
         "kafka.compression = 'brotli': needs one of none, gzip, snappy, lz4, zstd"),
    ],
)  # fmt: skip
def test_a_refusal_is_one_line_with_place_key_value_and_remedy(
    tmp_path: Path, text: str, said: str
) -> None:
    assert refused(tmp_path, text) == said


def test_a_file_that_is_not_utf_8_is_no_toml(tmp_path: Path) -> None:
    (tmp_path / "paramedic.toml").write_bytes(b"[job]\nranks = 3 # \xff\n")
    with pytest.raises(SettingsFileError, match="not TOML"):
        read_settings(tmp_path, {}, {})


def test_a_folder_in_place_of_the_file_is_named_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "paramedic.toml").mkdir()
    with pytest.raises(SettingsFileError, match=r"cannot be read \(Is a directory\)"):
        read_settings(tmp_path, {}, {})


@pytest.mark.parametrize("text", ["3.0", "", " ", "1e3", "0x10", "３x"])
def test_a_whole_number_is_not_guessed_from_other_texts(text: str) -> None:
    with pytest.raises(SettingValueError, match=r"--set: job\.ranks = .*: needs a whole number"):
        read(f"job.ranks={text}")


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e400", "twelve"])
def test_a_number_that_is_none_is_refused_wherever_limits_hold(text: str) -> None:
    with pytest.raises(SettingValueError, match=r"recovery\.target_seconds"):
        read(f"recovery.target_seconds={text}")


@pytest.mark.parametrize(
    ("timeout", "lateness", "least"), [("5", "4", "5"), ("1.5", "1", "2"), ("4", "3", "4")]
)
def test_a_healthy_rank_would_count_as_silent(timeout: str, lateness: str, least: str) -> None:
    with pytest.raises(SettingConflictError) as caught:
        read(
            f"detection.heartbeat_timeout_seconds={timeout}",
            f"detection.lateness_seconds={lateness}",
        )
    assert f"raise it above {least} or lower the lateness" in str(caught.value)


def test_a_conflict_names_the_place_of_the_value_that_was_given(tmp_path: Path) -> None:
    (tmp_path / "paramedic.toml").write_text("[detection]\nlateness_seconds = 4\n")
    environment = {"PARAMEDIC_DETECTION_HEARTBEAT_TIMEOUT_SECONDS": "5"}
    with pytest.raises(SettingConflictError, match=r"^PARAMEDIC_DETECTION_HEARTBEAT_TIMEOUT"):
        read_settings(tmp_path, environment, {})


def test_without_lateness_a_time_out_just_above_the_beat_is_taken() -> None:
    settings = read("detection.lateness_seconds=0", "detection.heartbeat_timeout_seconds=1.5")
    assert settings.detection.heartbeat_timeout_seconds == 1.5


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_this_machine_may_be_bound(host: str) -> None:
    assert read(f"api.host={host}").api.host == host


@pytest.mark.parametrize(
    "address", ["kafka://a:1,b:2,c:3", "kafka://[::1]:9092", "kafka://a:1?prefix=green"]
)
def test_a_cluster_may_have_several_brokers(address: str) -> None:
    assert read(f"bus.address={address}").bus.address == address


@pytest.mark.parametrize(
    "address", ["kafka://a:1,b", "kafka://a:1,", "kafka://:9", "KAFKA", "unix:relative", "kafkaa"]
)
def test_one_broker_that_cannot_be_reached_spoils_the_address(address: str) -> None:
    with pytest.raises(SettingValueError, match="kafka://HOST:PORT"):
        read(f"bus.address={address}")


def test_the_memory_of_the_broker_is_asked_for_with_kafka_only() -> None:
    short = "kafka.telemetry_retention_seconds=182"
    assert read(short).kafka.telemetry_retention_seconds == 182
    with pytest.raises(SettingConflictError, match=r"^--set: kafka\.telemetry_retention_seconds"):
        read(KAFKA, short)
    read(KAFKA, "kafka.telemetry_retention_seconds=183")


@pytest.mark.parametrize(
    ("more", "needed"),
    [("detection.window_seconds=100", "223"), ("detection.lateness_seconds=4", "184"),
     ("kafka.rewind_seconds=121", "184")],
)  # fmt: skip
def test_each_part_of_what_is_read_again_counts(more: str, needed: str) -> None:
    with pytest.raises(SettingConflictError, match=f"at least {needed}, the sum of"):
        read(KAFKA, "kafka.telemetry_retention_seconds=183", more)


@pytest.mark.parametrize("text", ["api.prot=1", "ports=1", "api=3", "API.PORT=3"])
def test_an_assignment_to_nothing_names_the_nearest_setting_or_the_page(text: str) -> None:
    with pytest.raises(UnknownSettingError) as caught:
        read(text)
    assert "did you mean " in str(caught.value) or "docs/settings.md" in str(caught.value)


def test_what_a_setting_takes_is_said_with_its_limits() -> None:
    known = known_settings()
    assert wanted(known["api.port"]) == "a whole number from 0 to 65535"
    assert wanted(known["recovery.minimum_confidence_ratio"]) == "a number from 0 to 1"
    assert wanted(known["kafka.prefix"]) == "a text"
