"""Telemetry of others, recorded in real machines, and what detectors make of it."""
