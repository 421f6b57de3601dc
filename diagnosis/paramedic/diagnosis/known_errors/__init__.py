"""Errors that drivers and counters report by name: what they mean, and when they accuse."""
