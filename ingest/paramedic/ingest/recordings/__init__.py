"""Recordings: folders of telemetry that can be written, read and replayed."""
