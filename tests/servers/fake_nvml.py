"""NVML by script, with the library's own function names, for machines without a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any


class FakeNvmlError(Exception):
    """As the library's NVMLError."""


class FakeNvml:
    """GPUs that answer, that lack something, that have fallen off the bus."""

    NVMLError: type[Exception] = FakeNvmlError
    NVML_TEMPERATURE_GPU = 0
    NVML_CLOCK_SM = 1
    NVML_CLOCK_MEM = 2
    NVML_MEMORY_ERROR_TYPE_CORRECTED = 0
    NVML_MEMORY_ERROR_TYPE_UNCORRECTED = 1
    NVML_VOLATILE_ECC = 0
    NVML_FI_DEV_MEMORY_TEMP = 82

    def __init__(self, gpus: int) -> None:
        self._gpus = gpus
        self.is_away = False
        self.lost: set[int] = set()
        self.unsupported: set[str] = set()
        self.is_started = 0

    def nvmlInit(self) -> None:  # noqa: N802
        self._answer("nvmlInit")
        self.is_started += 1

    def nvmlShutdown(self) -> None:  # noqa: N802
        self.is_started -= 1

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        self._answer("nvmlDeviceGetCount")
        return self._gpus

    def nvmlDeviceGetHandleByIndex(self, index: int) -> Any:  # noqa: N802
        return index

    def nvmlDeviceGetUUID(self, handle: Any) -> str:  # noqa: N802
        self._answer("nvmlDeviceGetUUID", handle)
        return f"GPU-{handle}"

    def nvmlDeviceGetName(self, _handle: Any) -> Any:  # noqa: N802
        return b"NVIDIA H100 80GB HBM3"

    def nvmlDeviceGetPciInfo(self, handle: Any) -> Any:  # noqa: N802
        return SimpleNamespace(busId=f"00000000:{handle:02X}:00.0")

    def nvmlDeviceGetUtilizationRates(self, handle: Any) -> Any:  # noqa: N802
        self._answer("nvmlDeviceGetUtilizationRates", handle)
        return SimpleNamespace(gpu=97, memory=41)

    def nvmlDeviceGetMemoryInfo(self, _handle: Any) -> Any:  # noqa: N802
        return SimpleNamespace(used=64 * 1024**2, free=16 * 1024**2, total=80 * 1024**2)

    def nvmlDeviceGetPowerUsage(self, _handle: Any) -> int:  # noqa: N802
        return 412_500

    def nvmlDeviceGetTemperature(self, _handle: Any, _sensor: int) -> int:  # noqa: N802
        return 61

    def nvmlDeviceGetClockInfo(self, _handle: Any, clock: int) -> int:  # noqa: N802
        return {1: 1980, 2: 2619}[clock]

    def nvmlDeviceGetTotalEnergyConsumption(self, _handle: Any) -> int:  # noqa: N802
        return 55_491_669_881

    def nvmlDeviceGetPcieReplayCounter(self, handle: Any) -> int:  # noqa: N802
        self._answer("nvmlDeviceGetPcieReplayCounter", handle)
        return 0

    def nvmlDeviceGetTotalEccErrors(  # noqa: N802
        self, _handle: Any, kind: int, _counter: int
    ) -> int:
        return {0: 3, 1: 1}[kind]

    def nvmlDeviceGetRemappedRows(self, _handle: Any) -> tuple[int, int, int, int]:  # noqa: N802
        return (2, 1, 1, 0)

    def nvmlDeviceGetCurrentClocksEventReasons(self, _handle: Any) -> int:  # noqa: N802
        return 4

    def nvmlDeviceGetFieldValues(  # noqa: N802
        self, _handle: Any, _fields: list[int]
    ) -> Sequence[Any]:
        absent = "memory_temperature" in self.unsupported
        return [SimpleNamespace(nvmlReturn=3 if absent else 0, value=SimpleNamespace(uiVal=74))]

    def _answer(self, function: str, handle: int | None = None) -> None:
        if self.is_away or function in self.unsupported or handle in self.lost:
            raise FakeNvmlError("Driver Not Loaded" if self.is_away else "Not Supported")
