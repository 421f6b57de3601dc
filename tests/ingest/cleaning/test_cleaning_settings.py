"""Settings of the cleaner are checked when they are made, and do what they say."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ingest.cleaning.pages import Exporter, gpu, only
from paramedic.ingest.cleaning.cleaner import TelemetryCleaner
from paramedic.ingest.cleaning.port import Cleaner
from paramedic.ingest.cleaning.settings import CleaningSettings


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("dialect_window_seconds", lambda: CleaningSettings(dialect_window_seconds=0)),
        ("counter_gap_seconds", lambda: CleaningSettings(counter_gap_seconds=0)),
        ("blind_after_seconds", lambda: CleaningSettings(blind_after_seconds=0)),
    ],
)
def test_a_duration_has_to_be_positive(name: str, make: Callable[[], CleaningSettings]) -> None:
    with pytest.raises(ValueError, match=f"{name} is 0"):
        make()


def test_the_cleaner_is_one_for_its_port() -> None:
    cleaner: Cleaner = TelemetryCleaner()
    assert cleaner.silent("nobody", 1.0) == ()


def test_a_shorter_gap_forgets_counters_sooner() -> None:
    exporter = Exporter(cleaner=TelemetryCleaner(CleaningSettings(counter_gap_seconds=5.0)))
    exporter.says(gpu("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", 0, 1), 10.0)
    page = exporter.says(gpu("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", 0, 9), 16.0)
    assert only(page, "gpu_pcie_replays_per_second") is None


def test_patience_with_a_silent_source_can_be_set() -> None:
    exporter = Exporter(cleaner=TelemetryCleaner(CleaningSettings(blind_after_seconds=60.0)))
    exporter.says(gpu("DCGM_FI_DEV_GPU_UTIL", 0, 1), 100.0)
    assert exporter.cleaner.silent(exporter.origin, 159.0) == ()
    assert len(exporter.cleaner.silent(exporter.origin, 160.0)) == 1


def test_a_shorter_window_lets_the_second_dialect_in_sooner() -> None:
    cleaner = TelemetryCleaner(CleaningSettings(dialect_window_seconds=5.0))
    dcgm, smi = (Exporter(name, cleaner=cleaner) for name in ("dcgm", "smi"))
    dcgm.says(gpu("DCGM_FI_DEV_GPU_UTIL", 0, 1), 100.0)
    page = smi.says('nvidia_smi_utilization_gpu_ratio{uuid="0"} 0.5\n', 106.0)
    assert only(page, "gpu_utilization_ratio") == 0.5
