"""Reads an existing Prometheus: raw samples with their own times, a second's worth at a time."""
