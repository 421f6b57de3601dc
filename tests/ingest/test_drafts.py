"""Files that are there whole or not at all."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from paramedic.ingest.drafts import appearing, reason_of, remedy_for, write_bytes, write_text


def interrupted(file: Path) -> None:
    with appearing(file) as draft:
        draft.write_text("half")
        raise KeyboardInterrupt


def test_what_was_there_stays_when_the_writing_breaks_off(tmp_path: Path) -> None:
    file = tmp_path / "told.json"
    write_text(file, "before")
    with pytest.raises(KeyboardInterrupt):
        interrupted(file)
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("told.json", "before")]


def test_what_is_written_has_its_name_at_once(tmp_path: Path) -> None:
    write_bytes(tmp_path / "a", b"\xff")
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [("a", b"\xff")]


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        (errno.ENOSPC, "make room, or name another file"),
        (errno.EDQUOT, "make room, or name another file"),
        (errno.EROFS, "name another file"),
    ],
)
def test_a_full_disk_has_a_remedy_of_its_own(code: int, remedy: str) -> None:
    assert remedy_for(OSError(code, "as pyarrow has it"), "name another file") == remedy


def test_the_system_s_words_stand_for_those_of_a_library() -> None:
    assert reason_of(OSError(errno.ENOSPC, "Error writing bytes")) == "No space left on device"
    assert reason_of(OSError("in no words of the system")) == "in no words of the system"
