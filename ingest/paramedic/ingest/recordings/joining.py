"""Puts Parquet files of one entity together, row group by row group, whatever columns each has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from paramedic.ingest.drafts import appearing
from paramedic.ingest.recordings.layout import ROWS_A_GROUP
from paramedic.ingest.recordings.parquet_files import reading, schema_of, writing

Keep = Callable[[pa.Table], pa.Table]


def write_whole(table: pa.Table, path: Path) -> None:
    """Write a file at once: it is there whole or not at all. Raises OSError."""
    with appearing(path) as draft:
        _write(draft, table.schema, [table])


def join(
    sources: Sequence[Path],
    whole: Path,
    metadata: dict[bytes, bytes],
    keep: Keep = lambda group: group,
) -> int:
    """Write one file with the rows of all; `keep` may leave rows of each row group out.

    Returns how many rows it has. Raises OSError, or pyarrow's errors for a source that is damaged.
    """
    schema = pa.unify_schemas(
        [schema_of(source).remove_metadata() for source in sources],
        promote_options="permissive",
    ).with_metadata(metadata)
    written = 0

    def counted() -> Iterator[pa.Table]:
        nonlocal written
        for group in _groups(sources, schema, keep):
            written += group.num_rows
            yield group

    with appearing(whole) as draft:
        _write(draft, schema, counted())
    return written


def fitted(group: pa.Table, schema: pa.Schema) -> pa.Table:
    """The group with all columns of the schema, in its order; what it lacks is null."""
    for field in schema:
        if field.name not in group.column_names:
            group = group.append_column(field, pa.nulls(group.num_rows, field.type))
    return group.select(schema.names).cast(schema)


def _groups(sources: Sequence[Path], schema: pa.Schema, keep: Keep) -> Iterator[pa.Table]:
    """Row groups of a good size, each from one or more small ones."""
    held: list[pa.Table] = []
    for source in sources:
        with reading(source) as file:
            for number in range(file.num_row_groups):
                held.append(fitted(keep(file.read_row_group(number, use_threads=False)), schema))
                if sum(one.num_rows for one in held) >= ROWS_A_GROUP:
                    yield pa.concat_tables(held)
                    held = []
    if held:
        yield pa.concat_tables(held)


def _write(path: Path, schema: pa.Schema, groups: Sequence[pa.Table] | Iterator[pa.Table]) -> None:
    with writing(path, schema) as writer:
        for group in groups:
            writer.write_table(group)
