"""The cleaner's arrays against the obvious way: one sample at a time, in plain dictionaries."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.cleaning.pages import Exporter
from paramedic.ingest.cleaning.port import CleanPage

BLANK = 9223372036854775794.0
GAUGE, COUNTER, SUMMED = (
    "DCGM_FI_DEV_POWER_USAGE",
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER",
    "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL",
)
METRICS = {
    GAUGE: "gpu_power_watts",
    COUNTER: "gpu_pcie_replays_per_second",
    SUMMED: "gpu_nvlink_errors_per_second",
}
HIGHEST = {GAUGE: 5000.0, COUNTER: 1e9, SUMMED: 1e9}
GAP_SECONDS = 300.0

Cells = dict[tuple[str, int], float]


@dataclass(frozen=True, slots=True)
class Sample:
    """One line of a page."""

    name: str
    gpu: int
    link: int
    value: float

    @property
    def line(self) -> str:
        link = f',nvlink="{self.link}"' if self.name == SUMMED else ""
        return f'{self.name}{{gpu="{self.gpu}",UUID="GPU-{self.gpu}"{link}}} {self.value!r}\n'


@dataclass
class SimpleCleaner:
    """What cleaning means, said as plainly as possible."""

    last: dict[tuple[str, int, int], tuple[float, float]] = field(default_factory=dict)

    def clean(self, page: list[Sample], now: float) -> tuple[Cells, Counter[str]]:
        rejected: Counter[str] = Counter()
        quantities: dict[tuple[str, int, int], float] = {}
        for sample in page:
            link = sample.link if sample.name == SUMMED else 0
            key = (sample.name, sample.gpu, link)
            reason = self._reason(sample)
            if reason is not None:
                rejected[reason] += 1
            else:
                quantities.setdefault(key, sample.value)
        seen = {(s.name, s.gpu, s.link if s.name == SUMMED else 0) for s in page}
        if len(page) > len(seen):
            rejected["duplicate"] += len(page) - len(seen)
        return self._cells(quantities, now, rejected), rejected

    @staticmethod
    def _reason(sample: Sample) -> str | None:
        if sample.value == BLANK:
            return "blank_sentinel"
        if math.isnan(sample.value):
            return "not_a_number"
        if math.isinf(sample.value):
            return "infinite"
        highest = HIGHEST[GAUGE] if sample.name == GAUGE else math.inf
        return None if 0 <= sample.value <= highest else "out_of_range"

    def _cells(
        self, quantities: dict[tuple[str, int, int], float], now: float, rejected: Counter[str]
    ) -> Cells:
        cells: Cells = {}
        waiting: set[tuple[str, int]] = set()
        for key, value in quantities.items():
            name, gpu, _ = key
            cell = (METRICS[name], gpu)
            rate = value if name == GAUGE else self._rate(key, value, now, rejected)
            if rate is None:
                waiting.add(cell)
            else:
                cells[cell] = cells.get(cell, 0.0) + rate
        return {cell: value for cell, value in cells.items() if cell not in waiting}

    def _rate(
        self, key: tuple[str, int, int], value: float, now: float, rejected: Counter[str]
    ) -> float | None:
        before = self.last.get(key)
        self.last[key] = (value, now)
        if before is None or now - before[1] > GAP_SECONDS:
            return None
        if value < before[0]:
            rejected["counter_reset"] += 1
            return None
        rate = (value - before[0]) / (now - before[1])
        if rate > HIGHEST[key[0]]:
            rejected["out_of_range"] += 1
            return None
        return rate


VALUES = st.one_of(
    st.integers(0, 5).map(float),
    st.floats(0, 6000),
    st.sampled_from([BLANK, math.nan, math.inf, -1.0, 1e12]),
)
SAMPLES = st.builds(
    Sample,
    name=st.sampled_from(sorted(METRICS)),
    gpu=st.integers(0, 2),
    link=st.integers(0, 1),
    value=VALUES,
)
PAGES = st.lists(
    st.tuples(st.sampled_from([1.0, 1.0, 1.0, 2.5, 301.0]), st.lists(SAMPLES, max_size=14)),
    min_size=1,
    max_size=6,
)


def cells_of(page: CleanPage) -> Cells:
    return {
        (metric, table.indices[row]): value
        for table in page.tables
        if table.indices is not None
        for metric, values in table.columns.items()
        for row, value in enumerate(values)
        if not math.isnan(value)
    }


@given(PAGES)
def test_arrays_and_dictionaries_agree_on_every_cell_and_every_count(
    pages: list[tuple[float, list[Sample]]],
) -> None:
    simple, exporter = SimpleCleaner(), Exporter()
    now = 1000.0
    for passed, samples in pages:
        now += passed
        cells, rejected = simple.clean(samples, now)
        page = exporter.says("".join(sample.line for sample in samples), now)
        assert cells_of(page) == pytest.approx(cells, rel=1e-9)
        counted: Counter[str] = Counter()
        for (reason, _), count in page.rejected.items():
            counted[reason] += count
        assert counted == rejected
