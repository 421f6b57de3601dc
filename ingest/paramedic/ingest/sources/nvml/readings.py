"""What NVML says of one GPU, under the names and in the units of dcgm-exporter's classic dialect.

So a host without an exporter looks to the cleaner like one with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from paramedic.ingest.sources.nvml.library import NvmlLibrary

_BYTES_PER_MEBIBYTE = 1024 * 1024
_MILLIWATTS_PER_WATT = 1000

Reading = Callable[[NvmlLibrary, Any], Mapping[str, float]]


def labels_of(nvml: NvmlLibrary, index: int, handle: Any, node: str) -> dict[str, str]:
    """The labels of all series of a GPU."""
    return {
        "gpu": str(index),
        "UUID": _text(nvml.nvmlDeviceGetUUID(handle)),
        "pci_bus_id": _text(nvml.nvmlDeviceGetPciInfo(handle).busId),
        "device": f"nvidia{index}",
        "modelName": _text(nvml.nvmlDeviceGetName(handle)),
        "Hostname": node,
    }


def values_of(nvml: NvmlLibrary, handle: Any) -> Iterator[tuple[str, float]]:
    """Names and values; what this GPU does not have is left out.

    Raises NVMLError when the GPU gives nothing at all: it has fallen off the bus.
    """
    failures: list[Exception] = []
    for reading in _READINGS:
        try:
            yield from reading(nvml, handle).items()
        except nvml.NVMLError as error:
            failures.append(error)
    if len(failures) == len(_READINGS):
        raise failures[0]


def _utilization(nvml: NvmlLibrary, handle: Any) -> Mapping[str, float]:
    rates = nvml.nvmlDeviceGetUtilizationRates(handle)
    return {"DCGM_FI_DEV_GPU_UTIL": rates.gpu, "DCGM_FI_DEV_MEM_COPY_UTIL": rates.memory}


def _memory(nvml: NvmlLibrary, handle: Any) -> Mapping[str, float]:
    memory = nvml.nvmlDeviceGetMemoryInfo(handle)
    return {
        "DCGM_FI_DEV_FB_USED": memory.used / _BYTES_PER_MEBIBYTE,
        "DCGM_FI_DEV_FB_FREE": memory.free / _BYTES_PER_MEBIBYTE,
    }


def _power(nvml: NvmlLibrary, handle: Any) -> Mapping[str, float]:
    watts = nvml.nvmlDeviceGetPowerUsage(handle) / _MILLIWATTS_PER_WATT
    return {"DCGM_FI_DEV_POWER_USAGE": watts}


def _temperature(nvml: NvmlLibrary, handle: Any) -> Mapping[str, float]:
    celsius = nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU)
    return {"DCGM_FI_DEV_GPU_TEMP": celsius}


def _memory_temperature(nvml: NvmlLibrary, handle: Any) -> Mapping[str, float]:
    (field,) = nvml.nvmlDeviceGetFieldValues(handle, [nvml.NVML_FI_DEV_MEMORY_TEMP])
    return {} if field.nvmlReturn else {"DCGM_FI_DEV_MEMORY_TEMP": field.value.uiVal}


def _clocks(nvml: NvmlLibrary, handle: Any) -> Mapping[str, float]:
    return {
        "DCGM_FI_DEV_SM_CLOCK": nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM),
        "DCGM_FI_DEV_MEM_CLOCK": nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_MEM),
    }


def _energy(nvml: NvmlLibrary, handle: Any) -> Mapping[str, float]:
    millijoules = nvml.nvmlDeviceGetTotalEnergyConsumption(handle)
    return {"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": millijoules}


def _replays(nvml: NvmlLibrary, handle: Any) -> Mapping[str, float]:
    return {"DCGM_FI_DEV_PCIE_REPLAY_COUNTER": nvml.nvmlDeviceGetPcieReplayCounter(handle)}


def _ecc(nvml: NvmlLibrary, handle: Any) -> Mapping[str, float]:
    counter = nvml.NVML_VOLATILE_ECC
    corrected = nvml.NVML_MEMORY_ERROR_TYPE_CORRECTED
    uncorrected = nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED
    count = nvml.nvmlDeviceGetTotalEccErrors
    return {
        "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL": count(handle, corrected, counter),
        "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": count(handle, uncorrected, counter),
    }


def _remapped_rows(nvml: NvmlLibrary, handle: Any) -> Mapping[str, float]:
    correctable, uncorrectable, pending, failed = nvml.nvmlDeviceGetRemappedRows(handle)
    return {
        "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS": correctable,
        "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": uncorrectable,
        "DCGM_FI_DEV_ROW_REMAP_PENDING": pending,
        "DCGM_FI_DEV_ROW_REMAP_FAILURE": failed,
    }


def _clock_reasons(nvml: NvmlLibrary, handle: Any) -> Mapping[str, float]:
    reasons = nvml.nvmlDeviceGetCurrentClocksEventReasons(handle)
    return {"DCGM_FI_DEV_CLOCKS_EVENT_REASONS": reasons}


_READINGS: tuple[Reading, ...] = (
    _utilization,
    _memory,
    _power,
    _temperature,
    _memory_temperature,
    _clocks,
    _energy,
    _replays,
    _ecc,
    _remapped_rows,
    _clock_reasons,
)


def _text(value: str | bytes) -> str:
    """Older releases of the library answer with bytes."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
