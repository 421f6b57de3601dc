"""A service in another process is alive while its file is young."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from paramedic.api.wiring.sign_file import SignFile, SignReader


class Clock:
    """Unix time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 1_780_000_000.0

    def __call__(self) -> float:
        return self.now


def test_the_age_of_the_file_is_that_of_the_last_sign(tmp_path: Path) -> None:
    clock, path = Clock(), tmp_path / "diagnose.alive"
    signs, reader = SignFile(path, clock), SignReader(path, clock)
    signs.beat()
    clock.now += 29.0
    assert reader.silent_seconds() == pytest.approx(29.0, abs=1e-3)
    assert reader.is_alive()
    clock.now += 2.0
    assert not reader.is_alive()
    signs.beat()
    assert reader.is_alive()


def test_the_file_is_touched_at_most_once_a_second(tmp_path: Path) -> None:
    clock, path = Clock(), tmp_path / "diagnose.alive"
    signs = SignFile(path, clock)
    signs.beat()
    path.unlink()
    clock.now += 0.9
    signs.beat()
    assert not path.exists()
    clock.now += 0.1
    signs.beat()
    assert path.exists()


def test_before_the_first_sign_a_service_has_its_time_to_start(tmp_path: Path) -> None:
    clock = Clock()
    reader = SignReader(tmp_path / "never", clock)
    clock.now += 30.0
    assert reader.is_alive()
    clock.now += 1.0
    assert not reader.is_alive()


def test_a_folder_that_is_gone_is_said_once_and_hurts_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    signs = SignFile(tmp_path / "gone" / "diagnose.alive", clock)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            signs.beat()
            clock.now += 1.0
    assert [record.message.startswith("no sign of life") for record in caplog.records] == [True]


def test_a_folder_that_goes_away_again_is_said_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clock, folder = Clock(), tmp_path / "run"
    signs = SignFile(folder / "diagnose.alive", clock)
    with caplog.at_level(logging.WARNING):
        for is_there in (False, True, False, False):
            if is_there:
                folder.mkdir()
            elif folder.exists():
                (folder / "diagnose.alive").unlink()
                folder.rmdir()
            signs.beat()
            clock.now += 1.0
    assert len(caplog.records) == 2


def test_a_clock_that_was_set_back_makes_nobody_younger_than_now(tmp_path: Path) -> None:
    clock, path = Clock(), tmp_path / "diagnose.alive"
    signs, reader = SignFile(path, clock), SignReader(path, clock)
    signs.beat()
    clock.now -= 3600.0
    assert reader.silent_seconds() == 0.0
    signs.beat()
    assert path.stat().st_mtime == pytest.approx(clock.now)


def test_the_limit_itself_is_alive(tmp_path: Path) -> None:
    clock = Clock()
    reader = SignReader(tmp_path / "never", clock, limit_seconds=5.0)
    clock.now += 5.0
    assert reader.is_alive()
    clock.now += 0.001
    assert not reader.is_alive()
