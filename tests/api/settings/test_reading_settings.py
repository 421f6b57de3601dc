"""Settings are read from file, environment and flags, and never fall back silently."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.api.settings.errors import (
    SettingConflictError,
    SettingsError,
    SettingsFileError,
    SettingValueError,
    UnknownSettingError,
)
from paramedic.api.settings.reading import parse_assignment, read_settings
from paramedic.api.settings.schema import SettingDescription, Settings, describe_settings
from paramedic.api.settings.values import Given

NUMERIC = [setting for setting in describe_settings() if setting.kind in (int, float)]


def bounds(setting: SettingDescription) -> tuple[float, float]:
    assert setting.limits.minimum is not None
    assert setting.limits.maximum is not None
    return setting.limits.minimum, setting.limits.maximum


def write(folder: Path, text: str) -> Path:
    path = folder / "paramedic.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_without_anything_given_the_defaults_hold(tmp_path: Path) -> None:
    assert read_settings(tmp_path, {}, {}) == Settings()


def test_the_file_of_the_current_folder_is_read(tmp_path: Path) -> None:
    write(tmp_path, "[detection]\nwindow_seconds = 30\n")
    assert read_settings(tmp_path, {}, {}).detection.window_seconds == 30


def test_a_file_named_by_flag_stands_in_for_the_usual_one(tmp_path: Path) -> None:
    write(tmp_path, "[job]\nranks = 2\n")
    other = tmp_path / "other.toml"
    other.write_text("[job]\nspares = 3\n", encoding="utf-8")
    settings = read_settings(tmp_path, {}, {}, other)
    assert (settings.job.ranks, settings.job.spares) == (4, 3)


def test_a_variable_outranks_the_file_and_a_flag_outranks_both(tmp_path: Path) -> None:
    write(tmp_path, "[api]\nport = 1\n[job]\nranks = 2\nspares = 2\n")
    settings = read_settings(
        tmp_path,
        {"PARAMEDIC_API_PORT": "2", "PARAMEDIC_JOB_RANKS": "3"},
        {"api.port": Given(3, "--port")},
    )
    assert (settings.api.port, settings.job.ranks, settings.job.spares) == (3, 3, 2)


def test_a_whole_number_is_accepted_where_a_number_is_wanted(tmp_path: Path) -> None:
    write(tmp_path, "[detection]\nheartbeat_timeout_seconds = 20\n")
    assert read_settings(tmp_path, {}, {}).detection.heartbeat_timeout_seconds == 20.0


def test_variables_between_our_own_processes_are_passed_over(tmp_path: Path) -> None:
    environment = {"PARAMEDIC_NODE": "node-0001", "PARAMEDIC_TEST_KAFKA": "a:1", "HOME": "/x"}
    assert read_settings(tmp_path, environment, {}) == Settings()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[detecton]\nwindow_seconds = 30\n", ["detecton", "detection"]),
        ("[detection]\nwindow_second = 30\n", ["detection.window_second", "window_seconds"]),
        ("port = 3\n", ["port"]),
        ("job = 3\n", ["[job]"]),
    ],
)
def test_an_unknown_name_in_the_file_is_refused_with_the_nearest(
    tmp_path: Path, text: str, words: list[str]
) -> None:
    path = write(tmp_path, text)
    with pytest.raises(UnknownSettingError) as caught:
        read_settings(tmp_path, {}, {})
    assert all(word in str(caught.value) for word in [str(path), *words])


def test_a_mistyped_variable_is_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UnknownSettingError, match="did you mean PARAMEDIC_API_PORT"):
        read_settings(tmp_path, {"PARAMEDIC_API_PROT": "3"}, {})


def test_an_unknown_flag_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownSettingError, match="--odd"):
        read_settings(tmp_path, {}, {"api.prot": Given(1, "--odd")})


@pytest.mark.parametrize(
    "text",
    [
        '[api]\nport = "8370"\n',
        "[api]\nport = true\n",
        "[api]\nport = 70000\n",
        "[job]\nranks = 1.5\n",
        "[bus]\naddress = 3\n",
        '[bus]\naddress = ""\n',
        "[detection]\nheartbeat_timeout_seconds = nan\n",
        "[checkpoint]\ninterval_seconds = inf\n",
    ],
)
def test_a_wrong_type_or_value_names_file_key_value_and_what_is_wanted(
    tmp_path: Path, text: str
) -> None:
    path = write(tmp_path, text)
    with pytest.raises(SettingValueError) as caught:
        read_settings(tmp_path, {}, {})
    message = str(caught.value)
    assert str(path) in message
    assert " = " in message
    assert "needs" in message


def test_a_variable_that_is_no_number_names_the_variable(tmp_path: Path) -> None:
    with pytest.raises(SettingValueError, match=r"PARAMEDIC_API_PORT: api\.port = 'many'"):
        read_settings(tmp_path, {"PARAMEDIC_API_PORT": "many"}, {})


def test_a_file_that_is_not_toml_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "[job\n")
    with pytest.raises(SettingsFileError, match="not TOML"):
        read_settings(tmp_path, {}, {})


def test_a_file_that_was_asked_for_and_is_missing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsFileError, match="--config"):
        read_settings(tmp_path, {}, {}, tmp_path / "none.toml")


def test_a_time_out_shorter_than_beat_and_lateness_is_refused(tmp_path: Path) -> None:
    flags = {"detection.heartbeat_timeout_seconds": Given(4.0, "--set")}
    with pytest.raises(SettingConflictError, match=r"--set.*raise it above 4"):
        read_settings(tmp_path, {}, flags)


def test_a_time_out_just_above_beat_and_lateness_is_taken(tmp_path: Path) -> None:
    flags = {"detection.heartbeat_timeout_seconds": Given(4.1, "--set")}
    assert read_settings(tmp_path, {}, flags).detection.heartbeat_timeout_seconds == 4.1


@pytest.mark.parametrize("host", ["0.0.0.0", "10.0.0.1", "example.org", "::"])
def test_an_open_host_is_refused_until_there_are_keys(tmp_path: Path, host: str) -> None:
    with pytest.raises(SettingValueError, match="keys"):
        read_settings(tmp_path, {}, {"api.host": Given(host, "--host")})


@pytest.mark.parametrize("address", ["kafka://", "kafka://host", "http://host:1", "kafka://h:x"])
def test_a_bus_address_that_can_never_work_is_refused(tmp_path: Path, address: str) -> None:
    with pytest.raises(SettingValueError, match=r"bus\.address"):
        read_settings(tmp_path, {}, {"bus.address": Given(address, "--bus")})


@pytest.mark.parametrize("address", ["embedded", "kafka", "kafka://host:9092", "unix:/tmp/a.sock"])
def test_a_bus_address_of_a_known_kind_is_taken(tmp_path: Path, address: str) -> None:
    settings = read_settings(tmp_path, {}, {"bus.address": Given(address, "--bus")})
    assert settings.bus.address == address


def test_an_assignment_is_read_with_the_type_of_its_setting() -> None:
    assert parse_assignment("api.port=0") == ("api.port", Given(0, "--set"))
    assert parse_assignment("bus.address=kafka://a:1") == (
        "bus.address",
        Given("kafka://a:1", "--set"),
    )


@pytest.mark.parametrize("text", ["api.port", "api.prot=3", "=3", "api.port=x"])
def test_an_assignment_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="--set"):
        parse_assignment(text)


@given(setting=st.sampled_from(NUMERIC), excess=st.floats(min_value=1e-6, max_value=1e9))
def test_no_number_outside_its_limits_is_ever_taken(
    setting: SettingDescription, excess: float
) -> None:
    low, high = bounds(setting)
    for value in (low - excess, high + excess):
        given_value = value if setting.kind is float else round(value)
        if low <= given_value <= high:
            continue
        with pytest.raises(SettingValueError):
            read_settings(Path("/nonexistent"), {}, {setting.key: Given(given_value, "--set")})


@given(text=st.text(max_size=20))
def test_any_text_in_a_numeric_variable_is_a_number_or_a_settings_error(text: str) -> None:
    for setting in NUMERIC[:3]:
        try:
            settings = read_settings(Path("/nonexistent"), {setting.variable: text}, {})
        except SettingsError:
            continue
        value = getattr(getattr(settings, setting.section), setting.name)
        low, high = bounds(setting)
        assert low <= value <= high
