"""The schema file is data that the code follows, and the two agree."""

from __future__ import annotations

import pytest

from paramedic.ingest.batch import header
from paramedic.ingest.batch.schema import Compression, ValueType, layout, schema
from paramedic.ingest.contract import Entity


@pytest.mark.parametrize(
    ("metric", "value_type"),
    [
        ("step", ValueType.F8),
        ("heartbeat", ValueType.F8),
        ("loss", ValueType.F8),
        ("gpu_ecc_uncorrectable_total", ValueType.F8),
        ("step_seconds", ValueType.F4),
        ("totals", ValueType.F4),
        ("gpu_power_watts", ValueType.F4),
    ],
)
def test_the_type_of_a_metric_follows_the_rule(metric: str, value_type: ValueType) -> None:
    assert layout().type_of(metric) is value_type


def test_the_layout_names_its_version_and_compressions() -> None:
    assert (layout().version, layout().magic) == (1, b"PTB1")
    assert layout().compression_bytes == {Compression.NONE: 0, Compression.ZLIB: 1}


def test_the_limits_in_the_code_are_those_of_the_schema() -> None:
    fields, definitions = schema()["properties"], schema()["$defs"]
    table, column = definitions["table"]["properties"], definitions["column"]["properties"]
    assert fields["version"]["const"] == layout().version
    assert fields["generation"]["maximum"] == header.GENERATION_LIMIT
    assert fields["second"]["maximum"] == header.SECOND_LIMIT
    assert fields["tables"]["maxItems"] == header.TABLES_LIMIT
    assert fields["shards"]["maximum"] == header.SHARDS_LIMIT
    assert fields["shard"]["maximum"] == header.SHARDS_LIMIT - 1
    assert table["indices"]["items"]["maximum"] == header.INDEX_LIMIT
    names = (fields["job"], table["nodes"]["items"], column["metric"])
    assert {(name["minLength"], name["maxLength"]) for name in names} == {(1, header.NAME_LIMIT)}


def test_the_enumerations_in_the_schema_are_those_of_the_contract() -> None:
    definitions = schema()["$defs"]
    assert definitions["table"]["properties"]["entity"]["enum"] == list(Entity)
    assert definitions["column"]["properties"]["type"]["enum"] == list(ValueType)
    assert set(schema()["layout"]["types"]) == set(ValueType)
