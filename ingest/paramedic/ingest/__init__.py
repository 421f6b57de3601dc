"""Telemetry in: sources, the bus, and aligned windows."""
