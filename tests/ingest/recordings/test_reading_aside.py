"""A process of its own reads large recordings: nobody sees a difference, and nobody waits in vain
when it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ingest.recordings.recorded import describe, gpu_row, moments_of, said, write_rows
from paramedic.ingest.recordings.errors import ReaderLostError, RecordingFormatError
from paramedic.ingest.recordings.opening import being_opened
from paramedic.ingest.recordings.reading import open_recording
from paramedic.ingest.recordings.reading_aside import read_aside

PROGRAM = """
import os, pickle, sys

def tell(what):
    pickle.dump(what, sys.stdout.buffer)
    sys.stdout.flush()

"""


def recording(folder: Path) -> Path:
    """Twenty seconds of two nodes, of which one row repeats another."""
    describe(folder)
    rows = [gpu_row(second, node) for second in range(20) for node in "ab"]
    write_rows(folder, "gpu", [*rows, gpu_row(3, "a", power=410.0)], row_group_size=8)
    return folder


def played_by(program: str) -> Any:
    """What a reader tells that does as this program does; it is asked for as a recording is."""
    return read_aside(Path("recordings/a"), ("-S", "-c", PROGRAM + program))


@pytest.mark.long
@pytest.mark.parametrize("large_bytes", [0, 1 << 30])
def test_whoever_reads_a_recording_it_tells_the_same(tmp_path: Path, large_bytes: int) -> None:
    folder = recording(tmp_path / "a")
    expected = open_recording(folder)
    with being_opened(folder, large_bytes) as opening:
        found = opening()
        assert found.outline == expected.outline
        moments = list(found.moments())
    assert said(moments) == said(list(expected.moments()))
    assert found.repeated_rows == expected.repeated_rows == 1


@pytest.mark.long
@pytest.mark.parametrize("large_bytes", [0, 1 << 30])
def test_whoever_reads_it_says_what_is_wrong_with_it(tmp_path: Path, large_bytes: int) -> None:
    folder = describe(tmp_path / "a")
    (folder / "gpu.parquet").write_bytes(b"PAR1 and nothing that Parquet could be")
    with pytest.raises(RecordingFormatError) as expected:
        open_recording(folder)
    with being_opened(folder, large_bytes) as opening, pytest.raises(RecordingFormatError) as told:
        opening()
    assert str(told.value) == str(expected.value)


@pytest.mark.parametrize(
    ("program", "how"),
    [
        ("os.kill(os.getpid(), 9)", "SIGKILL"),
        ("sys.exit(3)", "exit code 3"),
        ("sys.stdout.buffer.write(pickle.dumps(list(range(99)))[:-40])", "exit code 0"),
    ],
)
def test_a_reader_that_ends_too_soon_is_an_error_that_says_how_it_ended(
    program: str, how: str
) -> None:
    with played_by(program) as opening, pytest.raises(ReaderLostError, match=how) as told:
        opening()
    assert "recordings/a" in str(told.value)


def test_a_reader_that_ends_in_the_midst_of_it_is_one_as_well() -> None:
    with played_by("tell('outline'); os.kill(os.getpid(), 9)") as opening:
        portions = opening().portions(1)
        with pytest.raises(ReaderLostError, match="SIGKILL"):
            next(portions)


def test_the_reader_ends_with_its_user_who_alone_hears_of_ctrl_c() -> None:
    goes_on = "tell((os.getpid(), os.getsid(0))); import time; time.sleep(600)"
    with played_by(goes_on) as opening:
        process, session = opening().outline
        os.kill(process, 0)
    assert session == process != os.getsid(0)
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


@pytest.mark.long
def test_a_reader_to_whom_nobody_listens_ends_without_a_word(tmp_path: Path) -> None:
    program = (sys.executable, "-m", "paramedic.ingest.recordings.reading_aside")
    process = subprocess.Popen(
        [*program, recording(tmp_path / "a")], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.close()
    _, words = process.communicate()
    assert (process.returncode, words) == (0, b"")


def test_what_was_decoded_when_it_was_looked_through_is_not_read_again(tmp_path: Path) -> None:
    folder = recording(tmp_path / "a")
    expected, opened = said(moments_of(folder)), open_recording(folder)
    (folder / "gpu.parquet").unlink()
    assert said(list(opened.moments())) == expected
