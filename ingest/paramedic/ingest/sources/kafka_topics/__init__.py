"""Kafka topics that other tools fill with samples as JSON."""
