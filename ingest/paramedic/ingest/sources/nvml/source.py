"""The GPUs of this host as a source, once an interval."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from paramedic.ingest.contract import NodeName
from paramedic.ingest.sources.nvml.library import Load, NvmlLibrary, load_nvml
from paramedic.ingest.sources.nvml.readings import labels_of, values_of
from paramedic.ingest.sources.port import RawPage, Series, Sink, StopSignal
from paramedic.ingest.sources.retrying import Pauses


class NvmlSource:
    """Reads this host's GPUs until told to stop."""

    def __init__(
        self,
        node: NodeName,
        clock: Callable[[], float],
        interval_seconds: float = 1.0,
        load: Load = load_nvml,
    ) -> None:
        self.name = "NVML"
        self._node = node
        self._clock = clock
        self._interval = interval_seconds
        self._load = load
        self._series: dict[tuple[str, str], Series] = {}

    def run(self, sink: Sink, stop: StopSignal) -> None:
        """Read until told to stop. Raises MissingExtraError without nvidia-ml-py."""
        nvml = self._load()
        pauses = Pauses(1.0, 4.0)
        while not stop.is_set():
            try:
                self._follow(nvml, sink, stop, pauses)
            except nvml.NVMLError as error:
                sink.silent(self.name, self._node, f"NVML: {error}")
                stop.wait(pauses.failed())

    def _follow(self, nvml: NvmlLibrary, sink: Sink, stop: StopSignal, pauses: Pauses) -> None:
        nvml.nvmlInit()
        try:
            while not stop.is_set():
                sink.page(self._page(nvml))
                pauses.succeeded()
                stop.wait(self._until_next(self._clock()))
        finally:
            nvml.nvmlShutdown()

    def _until_next(self, now_seconds: float) -> float:
        """Until the next full interval."""
        return (math.floor(now_seconds / self._interval) + 1) * self._interval - now_seconds

    def _page(self, nvml: NvmlLibrary) -> RawPage:
        """All GPUs that answer; one that has fallen off the bus is not on the page.

        Raises NVMLError when none answers.
        """
        taken = self._clock()
        count = nvml.nvmlDeviceGetCount()
        series: list[Series] = []
        values: list[float] = []
        failures: list[Exception] = []
        for index in range(count):
            try:
                self._add(nvml, index, series, values)
            except nvml.NVMLError as error:
                failures.append(error)
        if failures and len(failures) == count:
            raise failures[0]
        return RawPage(self.name, taken, series, values, default_node=self._node)

    def _add(
        self, nvml: NvmlLibrary, index: int, series: list[Series], values: list[float]
    ) -> None:
        handle: Any = nvml.nvmlDeviceGetHandleByIndex(index)
        labels = labels_of(nvml, index, handle, self._node)
        for name, value in values_of(nvml, handle):
            key = (labels["UUID"], name)
            if key not in self._series:
                self._series[key] = Series(name, labels)
            series.append(self._series[key])
            values.append(float(value))
