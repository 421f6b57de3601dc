"""NVML through nvidia-ml-py: only the calls that are used, and what its errors mean."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol, cast

from paramedic.ingest.sources.port import SourceError


class MissingExtraError(SourceError):
    """A package that the source needs is not installed."""


class NvmlLibrary(Protocol):
    """The functions of the module `pynvml` that are used, under their own names.

    Every call may raise `NVMLError`; a handle is the library's own.
    """

    NVMLError: type[Exception]
    NVML_TEMPERATURE_GPU: int
    NVML_CLOCK_SM: int
    NVML_CLOCK_MEM: int
    NVML_MEMORY_ERROR_TYPE_CORRECTED: int
    NVML_MEMORY_ERROR_TYPE_UNCORRECTED: int
    NVML_VOLATILE_ECC: int
    NVML_FI_DEV_MEMORY_TEMP: int

    def nvmlInit(self) -> None: ...  # noqa: D102, N802
    def nvmlShutdown(self) -> None: ...  # noqa: D102, N802
    def nvmlDeviceGetCount(self) -> int: ...  # noqa: D102, N802
    def nvmlDeviceGetHandleByIndex(self, index: int, /) -> Any: ...  # noqa: D102, N802
    def nvmlDeviceGetUUID(self, handle: Any, /) -> str: ...  # noqa: D102, N802
    def nvmlDeviceGetName(self, handle: Any, /) -> str: ...  # noqa: D102, N802
    def nvmlDeviceGetPciInfo(self, handle: Any, /) -> Any: ...  # noqa: D102, N802
    def nvmlDeviceGetUtilizationRates(self, handle: Any, /) -> Any: ...  # noqa: D102, N802
    def nvmlDeviceGetMemoryInfo(self, handle: Any, /) -> Any: ...  # noqa: D102, N802
    def nvmlDeviceGetPowerUsage(self, handle: Any, /) -> int: ...  # noqa: D102, N802
    def nvmlDeviceGetTemperature(self, handle: Any, sensor: int, /) -> int: ...  # noqa: D102, N802
    def nvmlDeviceGetClockInfo(self, handle: Any, clock: int, /) -> int: ...  # noqa: D102, N802
    def nvmlDeviceGetTotalEnergyConsumption(self, handle: Any, /) -> int: ...  # noqa: D102, N802
    def nvmlDeviceGetPcieReplayCounter(self, handle: Any, /) -> int: ...  # noqa: D102, N802
    def nvmlDeviceGetTotalEccErrors(self, handle: Any, kind: int, counter: int, /) -> int: ...  # noqa: D102, N802
    def nvmlDeviceGetRemappedRows(self, handle: Any, /) -> tuple[int, int, int, int]: ...  # noqa: D102, N802
    def nvmlDeviceGetCurrentClocksEventReasons(self, handle: Any, /) -> int: ...  # noqa: D102, N802
    def nvmlDeviceGetFieldValues(self, handle: Any, fields: list[int], /) -> Any: ...  # noqa: D102, N802


Load = Callable[[], NvmlLibrary]


def load_nvml(importing: Callable[[str], Any] = import_module) -> NvmlLibrary:
    """The real library. Raises MissingExtraError when it is not installed."""
    try:
        return cast("NvmlLibrary", importing("pynvml"))
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            'reading GPUs directly needs nvidia-ml-py: pip install "paramedic[nvml]"'
        ) from error
