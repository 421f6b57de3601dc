"""Bytes that are no text are called what they are."""

from __future__ import annotations

import bz2
import gzip
import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.ingest.exposition.foreign_bytes import foreign_bytes

PAGE = b'DCGM_FI_DEV_GPU_TEMP{gpu="0"} 30\n'
WIDE = PAGE.decode().encode("utf-16")


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"", "empty"),
        (b" \n\n", "empty"),
        (gzip.compress(PAGE, mtime=0), "gzip"),
        (bz2.compress(PAGE), "bzip2"),
        (lzma.compress(PAGE), "xz"),
        (b"PK\x03\x04rest", "a zip archive"),
        (b"PAR1rest", "a Parquet file"),
        (WIDE, "UTF-16"),
        (WIDE[2:], "UTF-16"),
        (PAGE.decode().encode("utf-16-be"), "UTF-16"),
        (bytes(range(128, 256)), "binary"),
        (b"\x7fELF\x02\x01\x01\x00\x00\x00", "binary"),
    ],
)
def test_each_is_told_by_its_beginning(data: bytes, word: str) -> None:
    found = foreign_bytes(data)
    assert found is not None
    assert word in found


def test_accents_of_an_older_encoding_are_text() -> None:
    assert foreign_bytes("# Grüße\n".encode("latin-1") + PAGE) is None


@given(st.text(st.characters(min_codepoint=32, codec="utf-8"), min_size=1).filter(str.strip))
def test_text_is_text(text: str) -> None:
    assert foreign_bytes(("# " + text).encode()) is None
