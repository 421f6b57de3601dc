"""How each generation of dcgm-exporter names and scales what a card says."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Dialect(StrEnum):
    """Which dcgm-exporter the nodes run."""

    OLD = "old"
    """1.x, or --use-old-namespace: lower-case names, label `uuid`."""
    CLASSIC = "classic"
    """2.x to 4.8.2: `DCGM_FI_…` names, label `Hostname`."""
    CLASSIC_LOWER = "classic-lower"
    """4.8.3 and 4.8.4: the same names, label `hostname`."""
    SI = "si"
    """From 4.9: the DCGM 4.7 names, base units, label `hostname`."""


@dataclass(frozen=True, slots=True)
class Field:
    """One metric family of a page."""

    name: str
    source: str
    """A GPU metric of the cluster's second, one of its counters, or a derived value."""
    factor: float
    """Printed value for one canonical unit."""
    is_whole: bool
    """Printed as an integer; otherwise with six decimals."""
    is_counter: bool
    help: str


_MEGA = 1e-6
_MEBI = 2.0**-20

# source: (old, classic, SI name), (old, classic, SI factor), whole in (classic, SI), counter, help
_ROWS: tuple[
    tuple[str, tuple[str, str, str], tuple[float, float], tuple[bool, bool], bool, str], ...
] = (
    ("gpu_sm_clock_hertz",
     ("dcgm_sm_clock", "DCGM_FI_DEV_SM_CLOCK", "DCGM_FI_DEV_SM_CLOCK_HERTZ"),
     (_MEGA, 1.0), (True, True), False, "SM clock frequency"),
    ("gpu_memory_clock_hertz",
     ("dcgm_memory_clock", "DCGM_FI_DEV_MEM_CLOCK", "DCGM_FI_DEV_MEMORY_CLOCK_HERTZ"),
     (_MEGA, 1.0), (True, True), False, "Memory clock frequency"),
    ("gpu_memory_temperature_celsius",
     ("dcgm_memory_temp", "DCGM_FI_DEV_MEMORY_TEMP", "DCGM_FI_DEV_MEMORY_TEMP_CELSIUS"),
     (1.0, 1.0), (True, True), False, "Memory temperature (in C)."),
    ("gpu_temperature_celsius",
     ("dcgm_gpu_temp", "DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_GPU_TEMP_CELSIUS"),
     (1.0, 1.0), (True, True), False, "GPU temperature (in C)."),
    ("gpu_power_watts",
     ("dcgm_power_usage", "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_BOARD_POWER_WATTS"),
     (1.0, 1.0), (False, False), False, "Power draw (in W)."),
    ("gpu_energy_joules_total",
     ("dcgm_total_energy_consumption", "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
      "DCGM_FI_DEV_GPU_ENERGY_JOULES_TOTAL"),
     (1e3, 1.0), (True, False), True, "Total energy consumption since boot"),
    ("gpu_pcie_replays_total",
     ("dcgm_pcie_replay_counter", "DCGM_FI_DEV_PCIE_REPLAY_COUNTER",
      "DCGM_FI_DEV_PCIE_REPLAY_TOTAL"),
     (1.0, 1.0), (True, True), True, "Total number of PCIe retries."),
    ("gpu_utilization_ratio",
     ("dcgm_gpu_utilization", "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_GPU_UTIL_RATIO"),
     (100.0, 1.0), (True, False), False, "GPU utilization"),
    ("gpu_xid",
     ("dcgm_xid_errors", "DCGM_FI_DEV_XID_ERRORS", "DCGM_FI_DEV_XID_ERROR"),
     (1.0, 1.0), (True, True), False, "Value of the last XID error encountered."),
    ("gpu_memory_free_bytes",
     ("dcgm_fb_free", "DCGM_FI_DEV_FB_FREE", "DCGM_FI_DEV_FB_FREE_BYTES"),
     (_MEBI, 1.0), (True, True), False, "Framebuffer memory free"),
    ("gpu_memory_used_bytes",
     ("dcgm_fb_used", "DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FB_USED_BYTES"),
     (_MEBI, 1.0), (True, True), False, "Framebuffer memory used"),
    ("gpu_ecc_correctable_total",
     ("dcgm_ecc_sbe_volatile_total", "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL",
      "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL"),
     (1.0, 1.0), (True, True), True, "Total number of single-bit volatile ECC errors."),
    ("gpu_ecc_uncorrectable_total",
     ("dcgm_ecc_dbe_volatile_total", "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL",
      "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL"),
     (1.0, 1.0), (True, True), True, "Total number of double-bit volatile ECC errors."),
    ("gpu_nvlink_errors_total",
     ("dcgm_nvlink_replay_error_count_total", "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL",
      "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_TOTAL"),
     (1.0, 1.0), (True, True), True, "Total number of NVLink retries."),
    ("gpu_row_remap_failed",
     ("dcgm_row_remap_failure", "DCGM_FI_DEV_ROW_REMAP_FAILURE", "DCGM_FI_DEV_ROW_REMAP_FAILED"),
     (1.0, 1.0), (True, True), False, "Whether remapping of rows has failed"),
    ("gpu_row_remap_pending",
     ("", "DCGM_FI_DEV_ROW_REMAP_PENDING", "DCGM_FI_DEV_ROW_REMAP_PENDING"),
     (1.0, 1.0), (True, True), False, "Whether remapping of rows is pending"),
    ("gpu_throttle_reasons",
     ("", "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", "DCGM_FI_DEV_CLOCKS_EVENT_REASONS"),
     (1.0, 1.0), (True, True), False, "Bit mask of what limits the clocks"),
    ("gpu_recovery_action",
     ("", "DCGM_FI_DEV_GPU_RECOVERY_ACTION", "DCGM_FI_DEV_GPU_RECOVERY_ACTION"),
     (1.0, 1.0), (True, True), False, "What the driver wants done"),
    ("gpu_graphics_active_ratio",
     ("dcgm_fi_prof_gr_engine_active", "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
      "DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO"),
     (1.0, 1.0), (False, False), False, "Ratio of time the graphics engine is active."),
    ("gpu_sm_active_ratio",
     ("dcgm_fi_prof_sm_active", "DCGM_FI_PROF_SM_ACTIVE", "DCGM_FI_PROF_SM_UTIL_RATIO"),
     (1.0, 1.0), (False, False), False, "Ratio of cycles an SM has a warp assigned."),
    ("gpu_tensor_active_ratio",
     ("dcgm_fi_prof_pipe_tensor_active", "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
      "DCGM_FI_PROF_TENSOR_UTIL_RATIO"),
     (1.0, 1.0), (False, False), False, "Ratio of cycles the tensor (HMMA) pipe is active."),
    ("gpu_dram_active_ratio",
     ("dcgm_fi_prof_dram_active", "DCGM_FI_PROF_DRAM_ACTIVE", "DCGM_FI_PROF_DRAM_UTIL_RATIO"),
     (1.0, 1.0), (False, False), False, "Ratio of cycles the memory interface is active."),
    ("gpu_fp16_active_ratio",
     ("dcgm_fi_prof_pipe_fp16_active", "DCGM_FI_PROF_PIPE_FP16_ACTIVE",
      "DCGM_FI_PROF_FP16_UTIL_RATIO"),
     (1.0, 1.0), (False, False), False, "Ratio of cycles the fp16 pipe is active."),
    ("gpu_fp32_active_ratio",
     ("dcgm_fi_prof_pipe_fp32_active", "DCGM_FI_PROF_PIPE_FP32_ACTIVE",
      "DCGM_FI_PROF_FP32_UTIL_RATIO"),
     (1.0, 1.0), (False, False), False, "Ratio of cycles the fp32 pipe is active."),
    ("gpu_pcie_tx_bytes_per_second",
     ("dcgm_fi_prof_pcie_tx_bytes", "DCGM_FI_PROF_PCIE_TX_BYTES", "DCGM_FI_PROF_PCIE_TX_BYTES"),
     (1.0, 1.0), (True, True), False, "Bytes sent over PCIe in a second, headers included."),
    ("gpu_pcie_rx_bytes_per_second",
     ("dcgm_fi_prof_pcie_rx_bytes", "DCGM_FI_PROF_PCIE_RX_BYTES", "DCGM_FI_PROF_PCIE_RX_BYTES"),
     (1.0, 1.0), (True, True), False, "Bytes received over PCIe in a second, headers included."),
    ("gpu_nvlink_tx_bytes_per_second",
     ("dcgm_fi_prof_nvlink_tx_bytes", "DCGM_FI_PROF_NVLINK_TX_BYTES",
      "DCGM_FI_PROF_NVLINK_TX_BYTES"),
     (1.0, 1.0), (True, True), False, "Bytes sent over NVLink in a second."),
    ("gpu_nvlink_rx_bytes_per_second",
     ("dcgm_fi_prof_nvlink_rx_bytes", "DCGM_FI_PROF_NVLINK_RX_BYTES",
      "DCGM_FI_PROF_NVLINK_RX_BYTES"),
     (1.0, 1.0), (True, True), False, "Bytes received over NVLink in a second."),
)  # fmt: skip


def fields_of(dialect: Dialect) -> tuple[Field, ...]:
    """The families of a page, in their order."""
    spelling = {Dialect.OLD: 0, Dialect.CLASSIC: 1, Dialect.CLASSIC_LOWER: 1, Dialect.SI: 2}
    at = spelling[dialect]
    units = int(dialect is Dialect.SI)
    return tuple(
        Field(names[at], source, factors[units], whole[units], is_counter, text)
        for source, names, factors, whole, is_counter, text in _ROWS
        if names[at]
    )
