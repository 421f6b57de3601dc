"""Tells what a file holds, so that it is read the right way or honestly called something else."""

from __future__ import annotations

import re
from enum import StrEnum

from paramedic.ingest.exposition.sample_line import SampleLine, read_sample_line
from paramedic.ingest.exposition.smi_query import has_smi_query

_LINES_TO_JUDGE_BY = 200


class Contents(StrEnum):
    """What can be decoded."""

    PAGE = "metrics page"
    ANSWER = "answer of the Prometheus API"
    LOG = "kernel or fabric manager log"
    SMI_QUERY = "nvidia-smi --query-gpu table"


_ANSWER = re.compile(r'\s*\{\s*"(?:status|data|errorType)"\s*:')
_PAGE_COMMENT = re.compile(r"^# (?:HELP|TYPE|EOF)\b", re.MULTILINE)
_LOG = re.compile(
    r"^\d+,\d+,\d+,[^;]*;"  # a record of /dev/kmsg
    r"|^(?:\w+\s*:\w+\s*:\s*)?\[\s*\d+\.\d+\]"  # dmesg
    r"|^(?:\w+\s*:\w+\s*:\s*)?\[\w{3} \w{3}\s+\d+ \d\d:\d\d:\d\d \d{4}\]"  # dmesg -T
    r"|^\w+\s*:\w+\s*:\s*\d{4}-\d\d-\d\dT"  # dmesg -x --time-format iso
    r"|^\[\w{3}\s+\d+ \d{4} \d\d:\d\d:\d\d\] \[\w+\] \[tid \d+\]"  # the fabric manager
    r"|NVRM: |SXid|^\{.*\"MESSAGE\"|^\w{3}\s+\d+ \d\d:\d\d:\d\d \S+ kernel:",
    re.MULTILINE,
)
# What else is often found beside telemetry: a pattern of it, and what people call it.
_OTHERS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"^\s*#?\s*DCGM_FI_\w+\s*,\s*(?:gauge|counter|label)", re.MULTILINE),
     "a counters file of dcgm-exporter: it says what is measured, and holds no measurement"),
    (re.compile(r"# nThread \d+ nGpus \d+ minBytes"), "a result of nccl-tests"),
    (re.compile(r"NetworkLoad Tests v|application must be run on at least"), "a result of GPCNeT"),
    (re.compile(r"RDMA_\w+ (?:BW|Latency) Test"), "a result of perftest (RDMA)"),
    (re.compile(r"proc'd: \d+ \("), "a result of gpu-burn"),
    (re.compile(r"^\[\d{4}-\d\d-\d\d [\d:,]+\] \[[A-Z]+\] \[\w+\.py:", re.MULTILINE),
     "a training log"),
    (re.compile(r"\"[\w-]+/[^\"]*\"\s*:\s*[\d.]+"), "a result of SuperBench"),
    (re.compile(r"Permission is hereby granted|Apache License|Licensed under"), "a licence"),
)  # fmt: skip
_HTML = re.compile(r"\s*<(?:!doctype html|html|head|body)\b", re.IGNORECASE)
_EMPTY = "empty"
_UNKNOWN = "nothing that can be decoded"


def contents_of(text: str) -> Contents | str:
    """What the text holds; where it cannot be decoded, what it seems to be instead."""
    if not text.strip():
        return _EMPTY
    if _HTML.match(text):
        return "a web page (HTML): a login or an error, or the address lacks /metrics"
    if _ANSWER.match(text):
        return Contents.ANSWER
    if has_smi_query(text):
        return Contents.SMI_QUERY
    if _PAGE_COMMENT.search(text):
        return Contents.PAGE
    for pattern, name in _OTHERS:
        if pattern.search(text):
            return name
    if _LOG.search(text):
        return Contents.LOG
    return Contents.PAGE if _has_samples(text) else _UNKNOWN


def _has_samples(text: str) -> bool:
    """Whether at least one in three of its first lines is a sample."""
    lines = [line for line in text.split("\n", _LINES_TO_JUDGE_BY)[:_LINES_TO_JUDGE_BY] if line]
    said = [line for line in lines if not line.isspace() and not line.startswith("#")]
    samples = sum(isinstance(read_sample_line(line), SampleLine) for line in said)
    return bool(said) and samples * 3 >= len(said)
