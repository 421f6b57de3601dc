"""Opens Parquet files: pyarrow itself takes no path whose bytes are no UTF-8, and disks do."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


@contextmanager
def reading(path: Path) -> Iterator[pq.ParquetFile]:
    """The file, every page checked. Raises OSError or pyarrow's errors."""
    # pyarrow's own choice asks for huge pages, which takes long where memory is in pieces.
    pa.set_memory_pool(pa.system_memory_pool())
    with _source(path) as source, pq.ParquetFile(source, page_checksum_verification=True) as file:
        yield file


@contextmanager
def writing(path: Path, schema: pa.Schema) -> Iterator[pq.ParquetWriter]:
    """A new file of these columns. Raises OSError."""
    with (
        pa.OSFile(os.fsencode(path), "wb") as target,
        pq.ParquetWriter(target, schema, compression="zstd", write_page_checksum=True) as writer,
    ):
        yield writer


def schema_of(path: Path) -> pa.Schema:
    """The columns of a file. Raises OSError or pyarrow's errors."""
    with _source(path) as source:
        return pq.read_schema(source)


def metadata_of(path: Path) -> pq.FileMetaData:
    """What a file says of itself. Raises OSError or pyarrow's errors."""
    with _source(path) as source:
        return pq.read_metadata(source)


def _source(path: Path) -> pa.NativeFile:
    return pa.OSFile(os.fsencode(path), "rb")
