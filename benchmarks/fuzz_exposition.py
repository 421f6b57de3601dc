"""Looks for a page that breaks the parser or the cleaner, or brings out a wrong unit.

    pip install 'atheris>=3'        # optional; nothing else of Paramedic needs it
    python benchmarks/fuzz_exposition.py --seconds 600
    python benchmarks/fuzz_exposition.py --engine hypothesis --seconds 60    # without atheris

Every input is read as a page between two good lines, which have to survive; as a saved answer, a
table of nvidia-smi and a file of unknown contents; and its first bytes choose a value that is
printed in every dialect and has to come out the same. Nothing may be raised, no catalogued value
may leave its metric's range. Prints one JSON object; ends with 1 and the input when it finds one.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paramedic.ingest.catalogue.metric import Exported
    from paramedic.ingest.cleaning.port import CleanPage

_GOOD = 'DCGM_FI_DEV_POWER_USAGE{gpu="7",UUID="GPU-good"} 321\n'
_SECONDS_BETWEEN_PAGES = 1.0
# Atheris watches what is imported under its eyes.
_MODULES = (
    "paramedic.ingest.cleaning.cleaner",
    "paramedic.ingest.exposition.contents",
    "paramedic.ingest.exposition.parser",
    "paramedic.ingest.exposition.query_answer",
)
_CLOCK_HERTZ = 1.5e9
_LABELS = {
    "dcgm_1": 'gpu="0",uuid="GPU-x"',
    "dcgm": 'gpu="0",UUID="GPU-x",Hostname="n1"',
    "dcgm_4_9": 'gpu="0",UUID="GPU-x",hostname="n1"',
    "amd": 'gpu_id="0",gpu_uuid="GPU-x",hostname="n1"',
    "nvidia_smi": 'uuid="GPU-x",gpu="0"',
}
_SEEDS = (
    _GOOD,
    'm{a="x\\"y",b="c\\\\d"} 1 1700000000000\n',
    'm{pod="say "hi" to"} NaN # {trace_id="a"} 1\n',
    "# HELP a b\n# TYPE a counter\na +Inf\n# EOF\n",
    'DCGM_FI_DEV_MEMORY_TEMP{gpu="0"} 9223372036854775794\n',
    'DCGM_EXP_XID_ERRORS_COUNT{gpu="0",xid="31"} 2\nDCGM_FI_DEV_XID_ERRORS{gpu="0"} 31\n',
    'node_cpu_seconds_total{cpu="0",mode="idle"} 5\nnode_memory_MemTotal_bytes 5\n',
    '{"status":"success","data":{"result":[{"metric":{"__name__":"a"},"value":[1,"2"]}]}}',
    "uuid, index, power.draw [W]\nGPU-a, 0, 5 W\n",
)


class WrongUnitError(AssertionError):
    """A value came out other than it went in."""


class Target:
    """What is done with one input."""

    def __init__(self) -> None:
        from paramedic.ingest.catalogue.catalogue import shipped_catalogue
        from paramedic.ingest.catalogue.metric import Over
        from paramedic.ingest.contract import Entity

        self.inputs = 0
        self._catalogue = shipped_catalogue()
        names = [
            one
            for one in self._catalogue.exported.values()
            if one.metric.entity is Entity.GPU
            and one.over is Over.FIRST
            and not one.metric.is_input
        ]
        self._metrics = sorted({one.metric.id for one in names})
        self._names = {
            metric: [one for one in names if one.metric.id == metric] for metric in self._metrics
        }

    def __call__(self, data: bytes) -> None:
        """Raise for an input that shows a mistake."""
        self.inputs += 1
        self._read_as_a_page(data)
        self._read_as_anything(data)
        if len(data) >= 9:
            self._print_in_every_dialect(data[0], int.from_bytes(data[1:9], "big"))

    def _read_as_a_page(self, data: bytes) -> None:
        from paramedic.ingest.cleaning.cleaner import TelemetryCleaner
        from paramedic.ingest.contract import NodeName
        from paramedic.ingest.exposition.parser import ExpositionParser

        parser, cleaner = ExpositionParser("fuzz", NodeName("n1")), TelemetryCleaner()
        half = len(data) // 2
        for second, part in enumerate((data, data, data[:half], b"", data[half:]), 1):
            good = _GOOD.replace("GPU-good", f"GPU-good-{data[:4].hex()}")
            raw = parser.parse(good.encode() + part + b"\n" + _GOOD.encode(), float(second))
            read = [(one.name, value) for one, value in zip(raw.series, raw.values, strict=True)]
            assert read[0] == read[-1] == ("DCGM_FI_DEV_POWER_USAGE", 321.0), read
            page, samples = cleaner.explain(raw)
            self._check_ranges(page)
            assert all(math.isfinite(sample.value) for sample in samples)
        cleaner.silent("fuzz", 100.0)

    def _check_ranges(self, page: CleanPage) -> None:
        for table in page.tables:
            rows = len(table.nodes)
            for name, values in table.columns.items():
                assert len(values) == rows
                metric = self._catalogue.metrics.get(name)
                for value in values:
                    inside = metric is None or metric.low <= value <= metric.high
                    assert math.isnan(value) or (math.isfinite(value) and inside), (name, value)
        json.dumps([dict(fact.details) for fact in page.facts])

    @staticmethod
    def _read_as_anything(data: bytes) -> None:
        from paramedic.ingest.contract import ContractError
        from paramedic.ingest.exposition.contents import contents_of
        from paramedic.ingest.exposition.query_answer import pages_of_answer
        from paramedic.ingest.exposition.smi_query import pages_of_smi_query

        text = data.decode("utf-8", "replace")
        assert contents_of(text)
        pages_of_smi_query(text, "fuzz", 0.0)
        try:
            pages_of_answer(text, "fuzz")
        except ContractError:
            return

    def _print_in_every_dialect(self, choice: int, drawn: int) -> None:
        metric = self._catalogue.metrics[self._metrics[choice % len(self._metrics)]]
        low, high = max(metric.low, 0.0), min(metric.high, 1e9)
        if metric.id.endswith("clock_hertz"):
            low = 2e5
        value = low + (high - low) * (drawn / 2**64)
        for one in self._names[metric.id]:
            found = self._canonical(one, value)
            if not math.isclose(found, value, rel_tol=1e-9, abs_tol=1e-9):
                raise WrongUnitError(f"{one.name}: {value!r} came out as {found!r}")

    def _canonical(self, one: Exported, value: float) -> float:
        """The value after it was printed by this name and cleaned."""
        from paramedic.ingest.cleaning.cleaner import TelemetryCleaner
        from paramedic.ingest.contract import NodeName
        from paramedic.ingest.exposition.parser import ExpositionParser

        parser, cleaner = ExpositionParser("fuzz", NodeName("n1")), TelemetryCleaner()
        clock = f'DCGM_FI_DEV_SM_CLOCK_HERTZ{{gpu="9",UUID="GPU-9",hostname="n1"}} {_CLOCK_HERTZ}\n'
        page: CleanPage | None = None
        for second, said in enumerate((0.0 if one.is_rate else value, value)):
            line = f"{one.name}{{{_LABELS[one.dialect]}}} {said / one.factor!r}\n"
            page = cleaner.clean(parser.parse(line + clock, second * _SECONDS_BETWEEN_PAGES))
        assert page is not None
        for table in page.tables:
            if table.indices is not None and one.metric.id in table.columns:
                return table.columns[one.metric.id][table.indices.index(0)]
        return math.nan


def main() -> int:
    """Fuzz for as long as asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=("atheris", "hypothesis"), default="atheris")
    parser.add_argument("--seconds", type=float, default=600.0)
    arguments = parser.parse_args()
    engine = _with_atheris if arguments.engine == "atheris" else _with_hypothesis
    return engine(arguments.seconds)


def _with_atheris(seconds: float) -> int:
    """Never returns: atheris ends the process when it finds an input, and we when time is over."""
    import atheris  # type: ignore[import-not-found, import-untyped, unused-ignore]

    with atheris.instrument_imports(include=["paramedic"]):
        for module in _MODULES:
            importlib.import_module(module)
    target = Target()
    deadline = time.monotonic() + seconds

    def once(data: bytes) -> None:
        target(data)
        if time.monotonic() >= deadline:
            _report("atheris", target, seconds)
            os._exit(0)

    with tempfile.TemporaryDirectory() as corpus:
        for number, seed in enumerate(_SEEDS):
            Path(corpus, f"seed-{number}").write_text(seed)
        atheris.Setup(
            [sys.argv[0], "-timeout=20", "-max_len=4096", "-rss_limit_mb=8192", corpus], once
        )
        atheris.Fuzz()
    return 1


def _with_hypothesis(seconds: float) -> int:
    from hypothesis import HealthCheck, given, settings
    from hypothesis import strategies as st

    pieces = st.one_of(
        st.sampled_from(_SEEDS).map(str.encode),
        st.binary(max_size=64),
        st.text(max_size=64).map(str.encode),
        st.floats().map(lambda value: f' m{{gpu="0"}} {value!r}\n'.encode()),
    )
    target = Target()

    @settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(pieces, max_size=8).map(b"".join))
    def some(data: bytes) -> None:
        target(data)

    run: Callable[[], Any] = some
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        run()
    _report("hypothesis", target, seconds)
    return 0


def _report(engine: str, target: Target, seconds: float) -> None:
    found = {"engine": engine, "seconds": seconds, "inputs": target.inputs, "mistakes": 0}
    sys.stdout.write(f"{json.dumps(found)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
