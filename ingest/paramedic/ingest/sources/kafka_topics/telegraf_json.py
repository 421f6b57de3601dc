"""The JSON of Telegraf: a measurement with several fields, or a batch of them, in one message.

`{"name": "…", "tags": {"host": …}, "fields": {"…": 1.0}, "timestamp": 1458229140}`, or
`{"metrics": [{…}, …]}`. What its Prometheus input has read keeps its Prometheus name: in version 1
the measurement is the metric, in version 2 each field of the measurement `prometheus` is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paramedic.ingest.sources.kafka_topics.samples import (
    Poison,
    PoisonError,
    Sample,
    object_of,
    texts_of,
    time_of,
)

_VERSION_2 = "prometheus"
_VERSION_1_FIELDS = frozenset({"gauge", "counter", "value"})


def read_telegraf_message(payload: bytes) -> Sequence[Sample]:
    """The message's samples; fields that are texts are none, and left out. Raises PoisonError."""
    message = object_of(payload)
    batch = message.get("metrics", [message])
    if not isinstance(batch, list):
        raise PoisonError(Poison.NOT_JSON, batch)
    return [sample for measurement in batch for sample in _samples(measurement)]


def _samples(measurement: object) -> Iterator[Sample]:
    if not isinstance(measurement, dict):
        raise PoisonError(Poison.NOT_JSON, measurement)
    name, fields = measurement.get("name"), measurement.get("fields")
    if not isinstance(name, str) or not name:
        raise PoisonError(Poison.NO_NAME, measurement)
    if not isinstance(fields, dict):
        raise PoisonError(Poison.NO_VALUE, measurement)
    labels = texts_of(measurement.get("tags"))
    seconds = time_of(measurement.get("timestamp"))
    for field, value in fields.items():
        if isinstance(value, int | float):
            yield Sample(seconds, _name(name, field), labels, float(value))


def _name(measurement: str, field: str) -> str:
    """
    >>> _name("prometheus", "DCGM_FI_DEV_GPU_UTIL"), _name("node_load1", "gauge")
    ('DCGM_FI_DEV_GPU_UTIL', 'node_load1')
    >>> _name("nvidia_smi", "utilization_gpu")
    'nvidia_smi_utilization_gpu'
    """
    if measurement == _VERSION_2:
        return field
    return measurement if field in _VERSION_1_FIELDS else f"{measurement}_{field}"
