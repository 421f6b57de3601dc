"""Where log lines come from: files that grow and are replaced, programs, the kernel's device."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from paramedic.ingest.contract import NodeName
from paramedic.ingest.sources.kernel.feeds import (
    GrowingFile,
    KernelDevice,
    LineCutter,
    LineFeed,
    ProgramOutput,
)
from paramedic.ingest.sources.kernel.source import KernelLogSource
from paramedic.ingest.sources.port import SourceAwayError
from servers.telemetry_sink import running

XID = "NVRM: Xid (PCI:0000:9b:00): 79, gone"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "kern.log"
    path.write_text("old\n")
    return path


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def until_lines(feed: LineFeed, count: int) -> list[str]:
    lines: list[str] = []
    deadline = time.monotonic() + 10
    while len(lines) < count and time.monotonic() < deadline:
        lines += feed.lines(0.1)
    return lines


def test_a_file_is_read_from_its_end_on_line_by_line(log: Path) -> None:
    feed = GrowingFile(log)
    append(log, "one\ntw")
    assert feed.lines(0) == ["one"]
    append(log, "o\n")
    assert feed.lines(0) == ["two"]
    assert feed.lines(0) == []
    feed.close()


def test_a_file_that_is_replaced_or_cut_is_read_from_its_beginning(log: Path) -> None:
    feed = GrowingFile(log)
    log.rename(log.with_suffix(".1"))
    log.write_text("new\n")
    assert feed.lines(0) == ["new"]
    os.truncate(log, 0)
    assert feed.lines(0) == []
    append(log, "cut\n")
    assert feed.lines(0) == ["cut"]
    feed.close()


def test_a_file_that_is_gone_is_told(log: Path) -> None:
    feed = GrowingFile(log)
    log.unlink()
    with pytest.raises(SourceAwayError, match="No such file"):
        feed.lines(0)
    feed.close()


def test_a_programs_output_is_read_and_its_end_told() -> None:
    script = "print('one'); print('two')"
    feed = ProgramOutput([sys.executable, "-c", script])
    assert until_lines(feed, 2) == ["one", "two"]
    with pytest.raises(SourceAwayError, match="ended with exit code 0"):
        until_lines(feed, 3)
    feed.close()


def test_a_program_that_does_not_exist_is_told() -> None:
    with pytest.raises(SourceAwayError, match="no-such-program"):
        ProgramOutput(["no-such-program"])


def test_a_program_that_runs_on_is_ended_with_the_feed() -> None:
    feed = ProgramOutput([sys.executable, "-c", "import time; time.sleep(60)"])
    assert feed.lines(0.01) == ()
    feed.close()
    assert feed._process.returncode is not None


def test_records_of_the_device_are_single_lines(tmp_path: Path) -> None:
    device = tmp_path / "kmsg"
    os.mkfifo(device)
    feed = KernelDevice(device)
    writer = os.open(device, os.O_WRONLY)
    os.write(writer, b"6,1,2,-;hello\n SUBSYSTEM=pci\n")
    assert feed.lines(1) == ["6,1,2,-;hello"]
    assert feed.lines(0) == ()
    os.close(writer)
    feed.close()


def test_a_device_that_may_not_be_read_names_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(SourceAwayError, match="CAP_SYSLOG"):
        KernelDevice(tmp_path / "absent")


def test_a_line_without_end_is_let_go_of() -> None:
    cutter = LineCutter()
    assert cutter.lines(b"x" * 2_000_000) == []
    assert cutter.lines(b"\nnext\n") == ["", "next"]


class Replaying:
    """A journal that begins with the same lines whenever it is opened, and ends."""

    replays = True

    def __init__(self) -> None:
        self._is_read = False

    def lines(self, _timeout_seconds: float, /) -> list[str]:
        if self._is_read:
            raise SourceAwayError("it has ended")
        self._is_read = True
        stamps = ("1000.000000", "99200.000000", "99990.000000")
        return [f"{stamp.zfill(16)} node-1 kernel: {XID}" for stamp in stamps]

    def close(self) -> None:
        """Nothing is open."""


@pytest.mark.long
def test_what_is_replayed_is_told_once_and_only_if_it_is_recent() -> None:
    source = KernelLogSource(NodeName("node-1"), "journal", Replaying, lambda: 100_000.0)
    with running(source) as run:
        assert run.sink.wait_for(lambda: len(run.sink.silences) >= 2)
    assert [fact.timestamp_seconds for fact in run.sink.facts] == [99200.0, 99990.0]
