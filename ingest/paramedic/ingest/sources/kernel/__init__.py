"""Kernel logs and journals: GPU and NVSwitch errors that no exporter shows in full."""
