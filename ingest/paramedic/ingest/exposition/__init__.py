"""Reads metrics pages: the text format of Prometheus and of OpenMetrics."""
