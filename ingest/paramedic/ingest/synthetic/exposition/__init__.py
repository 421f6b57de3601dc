"""Pages of the true exporters, rendered from a second of the synthetic cluster."""
